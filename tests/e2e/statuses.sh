#!/usr/bin/env bash
# Each exit status that tapectl help statuses names comes of what it says, and the manual page and the guide name the same ones.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SEEN=()

# ends_with STATUS COMMAND...
ends_with() {
  local status=0
  "${@:2}" >"$WORK/answer" 2>&1 </dev/null || status=$?
  ((status == $1)) || fail "status $status instead of $1: ${*:2}: $(<"$WORK/answer")"
  SEEN+=("$1")
}

to_full_disk() { tapectl help record >/dev/full; }

interrupted() {
  local pid
  "$TAPEDECK_BIN/tapectl" watch lun --every 100ms >"$WORK/watched" &
  pid=$!
  wait_for 10 test -s "$WORK/watched" || fail "watch prints nothing"
  kill -INT "$pid"
  wait "$pid"
}

without_reader() {
  local pid
  mkfifo "$WORK/pipe"
  (sleep 0.2 && exec "$TAPEDECK_BIN/tapectl" help record) >"$WORK/pipe" &
  pid=$!
  true <"$WORK/pipe"
  wait "$pid"
}

rows_of_guide() { sed -n '/^| status /,/^$/s/^| \([0-9, ]*\) |.*/\1/p' "$TAPEDECK_ROOT/deploy/guide/commands.md" | tr -d ' ' | tr , '\n'; }

begin_test
# A shell without job control has SIGINT ignored in what it runs in the background.
set -m
mkdir "$WORK/files"
printf '%0.s1' {1..65536} >"$WORK/files/samples.cf32"
WORKER_OPTIONS=(--file-root "read:$WORK/files")
WORKER_RAILS=(--rail r0=tcp:127.0.0.1 --rail r9=tcp:127.0.0.1)
start_storage
start_worker
CAPACITY=64MiB lun_with_channel memory l0/c0 cf32_le 64KiB
ends_with 0 tapectl record l0/c0 --source "file:$WORK/files/samples.cf32"
ends_with 1 to_full_disk
ends_with 2 tapectl no-such-command
ends_with 2 tapectl view l0/c0/latest --from-sample 7 --to-sample 7
ends_with 3 tapectl recordings show l0/c0/none
ends_with 4 tapectl record l0/c0 --source file:/etc/hosts
ends_with 5 tapectl --storage 127.0.0.1:1 lun list
ends_with 6 tapectl play l0/c0/latest --sink verify
ends_with 10 tapectl doctor
ends_with 11 tapectl --worker 127.0.0.1:1 doctor
tapectl lun update l0 --full-policy ring >/dev/null
ends_with 124 tapectl --timeout 1s record l0/c0 --source synth --duration 1h
ends_with 130 interrupted
ends_with 141 without_reader
listed=$(tapectl help statuses | awk '$1 ~ /^[0-9]+$/ {print $1}')
[[ $listed == "$(printf '%s\n' "${SEEN[@]}" | sort -nu)" ]] || fail "the help names $listed, and seen were ${SEEN[*]}"
[[ $listed == "$(rows_of_guide)" ]] || fail "the help names $listed, and the guide $(rows_of_guide)"
tapectl manual --to "$WORK" >/dev/null
[[ $listed == "$(sed -n '/^\.SH EXIT STATUS/,/^\.SH ENV/s/^.*fB\([0-9]*\).*/\1/p' "$WORK/tapectl.1")" ]] || fail "the manual names others"
echo "${#SEEN[@]} ends: $(xargs <<<"$listed")"
