#!/usr/bin/env bash
# vm.sh does what it says: ports, options, output, exit status, timeout.
set -euo pipefail
LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

fail() {
  echo "FAILED: $*" >&2
  cat "$WORK"/* >&2
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

expect 0 -- "$LAB/ports_test.sh"
cat "$WORK/out"

mkdir "$WORK/shared"
truncate -s 64M "$WORK/disk"
# shellcheck disable=SC2016
expect 3 --memlock 64 --mtu 1500 --env 'WORDS=two words' --share "$WORK/shared" --disk "$WORK/disk" -- bash -c '
  echo "$WORDS"
  ibv_devinfo -d rx0 | grep active_mtu
  ib_write_bw -d rx0 -s 1048576 -n 16 -F >&2
  mkfs.ext4 -q /dev/nvme0n1 && mount /dev/nvme0n1 /mnt && pwd >"$0/folder"
  exit 3' "$WORK/shared"
[[ $(head -n 1 "$WORK/out") == 'two words' ]] || fail "the environment"
grep -q 'active_mtu:.*1024' "$WORK/out" || fail "the path MTU is not 1024"
grep -qi "couldn't allocate MR" "$WORK/err" || fail "1 MiB could be registered within 64 KiB of locked memory"
[[ $(<"$WORK/shared/folder") == "$PWD" ]] || fail "the shared folder, or the disk"

expect 124 --timeout 3 -- true
