#!/usr/bin/env bash
# A storage node that takes connections and says nothing, or a source that no file is, holds up nobody else's job, and
# the worker ends when it is told to.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# start_mute: an address that takes connections and says nothing.
start_mute() {
  need python3
  MUTE_PORT=$(free_port)
  python3 -c '
import socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
time.sleep(600)' "$MUTE_PORT" &
  wait_for 5 port_answers "$MUTE_PORT" || fail "no mute address"
}

# ask_mute COUNT: so many jobs ask for it.
ask_mute() {
  local i
  for ((i = 0; i < $1; ++i)); do
    tapectl record l0/c0 --source synth --blocks 1 --storage "127.0.0.1:$MUTE_PORT" >/dev/null 2>&1 &
  done
  sleep 0.5
}

# within MILLISECONDS WHAT COMMAND...: it succeeds that soon.
within() {
  local limit=$1 what=$2 begin
  shift 2
  begin=$(milliseconds)
  "$@" >/dev/null || fail "$what failed"
  (($(milliseconds) - begin < $(slow "$limit"))) || fail "$what took $(($(milliseconds) - begin)) ms"
}

begin_test
start_storage
start_worker
start_mute
lun_with_channel posix l0/c0 cf32_le 64KiB
ask_mute 8
within 3000 "an honest job beside mute nodes" tapectl record l0/c0 --source synth --blocks 8
within 2000 "jobs list" tapectl jobs list

mkfifo "$WORK/fifo"
answer=$(timeout 5 "$TAPEDECK_BIN/tapectl" --output json record l0/c0 --source "file:$WORK/fifo" 2>&1) &&
  fail "a FIFO was recorded"
expect_error_in "$answer" INVALID_ARGUMENT FILE_INVALID
within 2000 "jobs list after a FIFO" tapectl jobs list

ask_mute 8
begin=$(milliseconds)
kill -TERM "$WORKER_PID"
wait "$WORKER_PID" || fail "the worker ended with status $?"
(($(milliseconds) - begin < $(slow 3000))) || fail "the worker took $(($(milliseconds) - begin)) ms to end"
