# shellcheck shell=bash disable=SC2034
# Sourced by deploy/demo.sh, tests/e2e and tests/bench: starts a storage node and a worker of this
# build on loopback, each with its own state in a temporary directory, and stops what it started.
# Use: services_begin; trap services_end EXIT; start_storage; start_worker.

TAPEDECK_ROOT=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
TAPEDECK_BIN=${TAPEDECK_BIN:-$TAPEDECK_ROOT/build/bin}
# Both services' rails, as in TAPEDECK_RAILS="r0=verbs:10.0.0.1 r1=verbs:10.0.1.1".
read -ra RAILS <<<"${TAPEDECK_RAILS:-r0=tcp:127.0.0.1 r1=tcp:127.0.0.2}"
RAIL_KIND=${RAILS[0]#*=}
RAIL_KIND=${RAIL_KIND%%:*}
STORAGE_RAILS=()
for rail in "${RAILS[@]}"; do STORAGE_RAILS+=(--rail "$rail"); done
unset rail
WORKER_RAILS=("${STORAGE_RAILS[@]}")
# What else they are started with.
STORAGE_OPTIONS=()
WORKER_OPTIONS=()
SERVICE_PIDS=()
STORAGE_PID=
WORKER_PID=

# Makes WORK, a directory that services_end removes. mktemp honours TMPDIR.
services_begin() {
  WORK=$(mktemp -d -t tapedeck.XXXXXX)
  hold_ports
}

# hold_ports: PORTS_FROM is the first of 100 ports, below the range the kernel gives to clients, that no other script of this user
# takes while this one runs: nobody has the port of a service that is killed and started again. The locks lie in a folder that no
# other user can write into.
hold_ports() {
  local locks=/tmp/tapedeck-ports-$EUID set=$RANDOM
  [[ -d $locks ]] || mkdir -m 700 "$locks" 2>/dev/null || true
  if [[ ! -d $locks || -L $locks || ! -O $locks ]]; then
    echo "hold_ports: $locks is no folder of this user; remove it" >&2
    return 1
  fi
  for _ in {1..120}; do
    set=$(((set + 1) % 120))
    exec {PORTS_LOCK}>>"$locks/$set"
    PORTS_FROM=$((20000 + set * 100))
    ! flock --nonblock "$PORTS_LOCK" || return 0
    exec {PORTS_LOCK}>&-
  done
  echo "hold_ports: all ports are held by other scripts; locks are in $locks" >&2
  return 1
}

# A TCP port of this script's that it has not had and on which nobody answers at 127.0.0.1. Without services_begin nobody holds it.
# It is called in a subshell.
free_port() {
  local port
  [[ -n ${PORTS_FROM:-} ]] || hold_ports
  set -o noclobber
  for ((port = PORTS_FROM; port < PORTS_FROM + 100; ++port)); do
    ! port_answers "$port" && { : >"$WORK/.port-$port"; } 2>/dev/null && echo "$port" && return 0
  done
  echo "free_port: no free TCP port from $PORTS_FROM on" >&2
  return 1
}

PROCESSORS=$(nproc)

# programs_each: how many programs want each processor, over the last minute or just now.
programs_each() {
  local minute now
  read -r minute _ _ now _ </proc/loadavg
  minute=${minute%.*} now=$((${now%/*} - 1)) # this one does not count
  ((now > minute)) || now=$minute
  echo $((now > PROCESSORS ? (now + PROCESSORS - 1) / PROCESSORS : 1))
}

# slow NUMBER: a limit of time, longer where the processors are taken just now, and where everything is emulated
# (TAPEDECK_SLOWNESS).
slow() { echo $(($1 * ${TAPEDECK_SLOWNESS:-1} * $(programs_each))); }

# wait_for SECONDS COMMAND...: runs the command until it succeeds. Between two runs it waits a sixth of the time that it has waited
# in all, 200 ms at most, and twice the time that a run took, 150 ms at most. Looking takes a third of a processor at most, and less the
# longer it lasts. It fails when the time is over, which is longer on a slow machine.
wait_for() {
  local limit=$(($1 * 1000)) begun=$((${EPOCHREALTIME/[.,]/} / 1000)) now pause look
  local looked=$begun
  shift
  until "$@" >/dev/null 2>&1; do
    now=$((${EPOCHREALTIME/[.,]/} / 1000))
    ((now - begun < limit || now - begun < $(slow "$limit"))) || return 1
    pause=$(((now - begun) / 6)) look=$((2 * (now - looked)))
    pause=$((pause < 5 ? 5 : pause > 200 ? 200 : pause)) look=$((look > 150 ? 150 : look))
    nap $((pause > look ? pause : look))
    looked=$((${EPOCHREALTIME/[.,]/} / 1000))
  done
}

# nap MILLISECONDS: less than a second, without a process: nothing ever comes out of that pipe.
exec {NAPS}<> <(:)
nap() {
  local seconds
  printf -v seconds '0.%03d' "$1"
  read -rt "$seconds" -u "$NAPS" || true
}

milliseconds() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

port_answers() { { :; } 2>/dev/null 3<>"/dev/tcp/127.0.0.1/$1"; }

# started_or_dead PID PORT
started_or_dead() { port_answers "$2" || ! kill -0 "$1"; }

# start_service LOG PORT COMMAND...: sets SERVICE_PID once the port answers. With the log's end on failure.
start_service() {
  local log=$1 port=$2
  shift 2
  "$@" >>"$log" 2>&1 &
  SERVICE_PID=$!
  SERVICE_PIDS+=("$SERVICE_PID")
  if ! wait_for 15 started_or_dead "$SERVICE_PID" "$port" || ! kill -0 "$SERVICE_PID" 2>/dev/null; then
    echo "$1 did not start; its log ends:" >&2
    tail -n 20 "$log" >&2
    return 1
  fi
}

# start_storage: again after a kill it keeps its port and state.
start_storage() {
  STORAGE_PORT=${STORAGE_PORT:-$(free_port)}
  export TAPEDECK_STORAGE=127.0.0.1:$STORAGE_PORT
  start_service "$WORK/storage.log" "$STORAGE_PORT" "$TAPEDECK_BIN/tapedeck-storage" \
    --listen "$TAPEDECK_STORAGE" --state "$WORK/state" \
    "${STORAGE_RAILS[@]}" "${STORAGE_OPTIONS[@]}" || return
  STORAGE_PID=$SERVICE_PID
}

# start_worker: WORKER_DEVICE (auto) chooses the device.
start_worker() {
  WORKER_PORT=${WORKER_PORT:-$(free_port)}
  export TAPEDECK_WORKER=127.0.0.1:$WORKER_PORT
  start_service "$WORK/worker.log" "$WORKER_PORT" "$TAPEDECK_BIN/tapedeck-worker" \
    --listen "$TAPEDECK_WORKER" --device "${WORKER_DEVICE:-auto}" "${WORKER_RAILS[@]}" "${WORKER_OPTIONS[@]}" || return
  WORKER_PID=$SERVICE_PID
}

# is_running PID: of a service that was started here. The number of one that has ended may be another process's by now.
is_running() { [[ $'\n'$(jobs -rp)$'\n' == *$'\n'"$1"$'\n'* ]]; }

# stop_service PID: asks, then insists after 10 s.
stop_service() {
  local pid=$1
  is_running "$pid" || return 0
  kill -TERM "$pid" 2>/dev/null || true
  wait_for 10 eval "! is_running $pid" || kill -KILL "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
}

# kill_service PID: kill -9. It is gone when this returns: until then its port still answers.
kill_service() {
  kill -KILL "$1"
  wait "$1" 2>/dev/null || true
}

# Stops everything and removes WORK; safe to call twice.
services_end() {
  local pid
  for pid in "${SERVICE_PIDS[@]}"; do
    stop_service "$pid"
  done
  SERVICE_PIDS=()
  [[ -z ${WORK:-} ]] || rm -rf "$WORK"
}

# ticks_now SHELL PID...: since the start, in ticks of a processor: of all in all, of all when busy, of these processes, and of the
# programs that the shell has run.
ticks_now() {
  awk '/^cpu / {busy = $2 + $3 + $4 + $7 + $8 + $9; printf "%d %d ", busy + $5 + $6, busy; exit}' /proc/stat
  sed 's/^.*) //' "${@/#//proc/}" | awk 'NR == 1 {run = $14 + $15 + $12 + $13} NR > 1 {of += $12 + $13} END {print of + 0, run}'
}

# processors_begin PID...: counts what processors do from here to processors_end, which the same shell calls.
processors_begin() {
  PROCESSORS_OF=("$BASHPID/stat" "${@/%//stat}")
  PROCESSORS_BEGAN=$(ticks_now "${PROCESSORS_OF[@]}")
}

# processors_end: sets PROCESSORS_SECONDS, of a processor's time, that the processes took, and PROCESSORS_OTHERS, how many processors
# on the average were busy with neither them nor this shell's programs.
processors_end() {
  read -r PROCESSORS_SECONDS PROCESSORS_OTHERS < <(
    awk -v count="$(getconf _NPROCESSORS_ONLN)" -v hertz="$(getconf CLK_TCK)" '{others = ($6 - $2) - ($7 - $3) - ($8 - $4)
      printf "%.2f %.2f\n", ($7 - $3) / hertz, (others > 0 ? others : 0) * count / ($5 > $1 ? $5 - $1 : 1)}' \
      <<<"$PROCESSORS_BEGAN $(ticks_now "${PROCESSORS_OF[@]}")"
  )
}

tapectl() { "$TAPEDECK_BIN/tapectl" "$@"; }
tapectl_json() { "$TAPEDECK_BIN/tapectl" --output json "$@"; }
