#!/usr/bin/env bash
# Runs in the virtual machine, for shared_machine.sh: the checks of a file, one after another in the same machine.
#   checks.sh FILE [NAME...]     those whose names match one of the patterns; all, unless told
# A line of the file is a check: its name, options, a colon and its command, such as
#   verbs.memlock memlock=64 : tests/lab/rail_faults_test.sh memlock
#   memlock=KIB    limit of locked memory, enforced for root too
#   mtu=BYTES      of both ports
#   long           only if TAPEDECK_LONG is set
#   limit=SECONDS  after which the check is ended, times the machine's slowness (guest.sh); 100 unless told
#   checks.sh --list FILE [NAME...]     says their names
# Of each it says what came of it (results.sh) and what it wrote. What it changed is undone: its processes are ended and,
# unless it passed and left both ports as they were, these are made anew. Exit status 1: one failed.
set -uo pipefail
LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lab/guest.sh
source "$LAB/guest.sh"
# shellcheck source=tests/lab/results.sh
source "$LAB/results.sh"
LOG=/tmp/check.log MTU=4200 WITH_RDMA=no
[[ ! -e /sys/class/infiniband ]] || WITH_RDMA=yes

# reset_ports: as they were after the boot.
reset_ports() {
  local port
  for port in 0 1; do remake_port "$port" 1 "$MTU" "$WITH_RDMA"; done
}

ports_are_sound() {
  local port
  [[ ! -e /sys/class/net/ry0 ]] || return 1
  for port in 0 1; do
    [[ $(<"/sys/class/net/p$port/operstate") == up && $(<"/sys/class/net/p$port/mtu") == "$MTU" ]] || return 1
    [[ $WITH_RDMA == no || $(rdma_state "$port") == ACTIVE ]] || return 1
  done 2>/dev/null
}

# run_check MEMLOCK LIMIT COMMAND...: in a process group of its own, of which nothing is left afterwards.
run_check() {
  local status=0 group limit=()
  [[ $1 == unlimited ]] || limit=(setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock)
  (ulimit -l "$1" && exec timeout --kill-after=5 $(($2 * TAPEDECK_SLOWNESS)) "${limit[@]}" "${@:3}") \
    >"$LOG" 2>&1 </dev/null &
  group=$!
  wait "$group" || status=$?
  kill -KILL -- "-$group" 2>/dev/null
  return "$status"
}

# check NAME OPTION... : COMMAND...
check() {
  local name=$1 memlock=unlimited mtu=$MTU seconds=100 status=0 started took
  shift
  while [[ $1 != : ]]; do
    case $1 in
      memlock=*) memlock=${1#*=} ;;
      mtu=*) mtu=${1#*=} ;;
      limit=*) seconds=${1#*=} ;;
      long) ;;
      *) echo "checks.sh: $name has an unknown option $1" >&2 && return 1 ;;
    esac
    shift
  done
  TAPEDECK_SLOWNESS=$(slowness)
  export TAPEDECK_SLOWNESS
  started=${EPOCHREALTIME/[.,]/}
  [[ $mtu == "$MTU" ]] || { set_mtu 0 "$mtu" && set_mtu 1 "$mtu"; }
  run_check "$memlock" "$seconds" "${@:2}" || status=$?
  ((status != 124)) || echo "FAILED: it ran longer than $seconds s, with the slowness $TAPEDECK_SLOWNESS" >>"$LOG"
  took=$(((${EPOCHREALTIME/[.,]/} - started) / 100000))
  if ((status != 0 && status != 77)) || ! ports_are_sound; then reset_ports >/dev/null 2>&1; fi
  result_of "$status" "$name" "$((took / 10)).$((took % 10))" "$LOG"
}

# is_wanted NAME PATTERN...
is_wanted() {
  local pattern
  (($# > 1)) || return 0
  # shellcheck disable=SC2053
  for pattern in "${@:2}"; do [[ $1 != $pattern ]] || return 0; done
  return 1
}

LIST=no FAILED=0
[[ ${1:-} != --list ]] || { LIST=yes && shift; }
while read -ra words <&5; do
  [[ -n ${words[*]} && ${words[0]} != '#'* ]] || continue
  is_wanted "${words[0]}" "${@:2}" || continue
  [[ -n ${TAPEDECK_LONG:-} || ${words[*]%% : *} != *' long'* ]] || continue
  if [[ $LIST == yes ]]; then echo "${words[0]}"; else check "${words[@]}" || FAILED=1; fi
done 5<"$1"
exit "$FAILED"
