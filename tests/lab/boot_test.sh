#!/usr/bin/env bash
# vm.sh does what it says: options, output, exit status, timeout. The ports are the matter of ports_test.sh.
set -Eeuo pipefail
trap '((BASH_SUBSHELL > 0)) || echo "FAILED at ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR
LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=$(mktemp -d)
# shellcheck source=tests/lab/results.sh
source "$LAB/results.sh"

# shellcheck disable=SC2317
end_test() {
  local status=$?
  result_of "$status" boot "$SECONDS" "$WORK/err" >/dev/null
  rm -rf "$WORK"
  exit "$status"
}
trap end_test EXIT
touch "$WORK/err"

fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  cat "$WORK"/{out,err} >&2
  exit 1
}

# expect STATUS VM.SH ARGUMENTS...: its output is in WORK/out and WORK/err.
expect() {
  local status=0
  "$LAB/vm.sh" "${@:2}" </dev/null >"$WORK/out" 2>"$WORK/err" || status=$?
  if ((status == 77)); then
    cat "$WORK/err"
    exit 77
  fi
  ((status == $1)) || fail "status $status, not $1: vm.sh ${*:2}"
}

mkdir "$WORK/shared"
truncate -s 64M "$WORK/disk"
# shellcheck disable=SC2016
expect 3 --timeout 300 --memlock 64 --mtu 1500 --env 'WORDS=two words' --share "$WORK/shared" --disk "$WORK/disk" -- bash -c '
  echo "$WORDS"
  ibv_devinfo -d rx0 | grep active_mtu
  timeout 60 ibv_rc_pingpong -d rx0 -g 1 -s 1048576 >&2
  mkfs.ext4 -q /dev/vda && mount /dev/vda /mnt && pwd >"$0/folder"
  exit 3' "$WORK/shared"
[[ $(head -n 1 "$WORK/out") == 'two words' ]] || fail "the environment"
grep -q 'active_mtu:.*1024' "$WORK/out" || fail "the path MTU is not 1024"
grep -q "Couldn't register MR" "$WORK/err" || fail "1 MiB could be registered within 64 KiB of locked memory"
[[ -s $WORK/shared/folder ]] || fail "the shared folder, or the disk"
[[ $(<"$WORK/shared/folder") == "$PWD" ]] || fail "the caller's folder"

expect 124 --timeout 3 -- true
