#!/usr/bin/env bash
# A storage node that is slow is waited for: what carries its sessions, or what answers calls, does not get to run for 8 s, in which
# its connections answer. One that is stopped as a whole is given up after 5 s.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3

SLOW_S=8

# beside_stopped NAME...: threads of the node with such names are stopped while a recording begins.
beside_stopped() {
  local stopper recorded begin
  rm -f "$WORK/stopped"
  "$(dirname "${BASH_SOURCE[0]}")/stop_threads.py" "$STORAGE_PID" $SLOW_S "$@" >"$WORK/stopped" &
  stopper=$!
  wait_for 5 grep -q stopped "$WORK/stopped" || skip "no thread can be stopped here: $(<"$WORK/stopped")"
  ! grep -qx 'stopped 0' "$WORK/stopped" || fail "no thread is called $*"
  begin=$(milliseconds)
  recorded=$(tapectl_json record l0/c0 --source synth --blocks 8) || fail "a node whose threads $* are late is given up: $recorded"
  is_whole "$recorded" "recording on a slow node"
  wait "$stopper" || fail "the threads were not let go"
  echo "begun and done $(($(milliseconds) - begin)) ms after $(<"$WORK/stopped") threads: $*"
}

begin_test
start_storage
start_worker
lun_with_channel posix l0/c0 cf32_le 64KiB
tapectl record l0/c0 --source synth --blocks 8 >/dev/null # so that its threads are there
beside_stopped session-
beside_stopped call

kill -STOP "$STORAGE_PID"
begin=$(milliseconds)
answer=$(tapectl_json record l0/c0 --source synth --blocks 8) && fail "a node that is stopped records: $answer"
took=$(($(milliseconds) - begin))
kill -CONT "$STORAGE_PID"
echo "a node that is stopped is given up after $took ms: $(jq -r .error.message <<<"$answer")"
((took < $(slow 9000))) || fail "it took $took ms"
