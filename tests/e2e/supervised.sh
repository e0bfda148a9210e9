#!/usr/bin/env bash
# What systemd hears of both programs: READY=1 once they take work, signs of life while they move, none while they are stopped by
# SIGSTOP, and STOPPING=1 before they end well, within the grace that they were given: a job that ends within it ends by itself.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

WATCHDOG_MS=600

# heard SERVICE: how many signs of life there were so far.
heard() { grep -c WATCHDOG=1 "$WORK/$1.notify" || true; }

heard_more() { (($(heard "$1") > $2)); }

# is_silent SERVICE: none for a watchdog's time, after which systemd would end it.
is_silent() {
  local before
  before=$(heard "$1")
  sleep "0.$((WATCHDOG_MS / 100))"
  (($(heard "$1") == before))
}

# supervise SERVICE PID [COMMAND...]: runs the command before the service is asked to end.
supervise() {
  local name=$1 pid=$2
  wait_for 10 heard_more "$name" 2 || fail "$name gives no signs of life: $(<"$WORK/$name.notify")"
  [[ $(head -n 1 "$WORK/$name.notify") == *READY=1 ]] || fail "$name: not ready first: $(<"$WORK/$name.notify")"
  kill -STOP "$pid"
  wait_for 10 is_silent "$name" || fail "$name is stopped and gives signs of life"
  kill -CONT "$pid"
  wait_for 10 heard_more "$name" "$(heard "$name")" || fail "$name gives no signs of life when it goes on"
  "${@:3}"
  kill -TERM "$pid"
  wait "$pid" || fail "$name ended with status $?"
  grep -q STOPPING=1 "$WORK/$name.notify" || fail "$name did not say that it stops"
}

begin_test
for service in storage worker; do
  /usr/bin/python3 "$TAPEDECK_ROOT/tests/e2e/notify_socket.py" "$WORK/$service.socket" >"$WORK/$service.notify" &
  wait_for 10 test -S "$WORK/$service.socket" || fail "no socket"
done
WORKER_OPTIONS=(--grace 30s)
export WATCHDOG_USEC=${WATCHDOG_MS}000
NOTIFY_SOCKET=$WORK/storage.socket start_storage
NOTIFY_SOCKET=$WORK/worker.socket start_worker
tapectl lun create l0 --store memory --capacity 64MiB --full-policy ring >/dev/null
tapectl channel create l0/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 --segment 16MiB >/dev/null
seconds=$(slow 2)
supervise worker "$WORKER_PID" start_job record l0/c0 --source synth:noise=0 --slots 8 --duration "$((seconds < 10 ? seconds : 10))s"
grep -q EXTEND_TIMEOUT_USEC=36000000 "$WORK/worker.notify" || fail "systemd is not told of the grace: $(<"$WORK/worker.notify")"
end_job
json_is "$(tapectl_json recordings list)" '.recordings[0] | .state == "SEALED" and (.cause // "") == ""' "what was recorded until its end"
supervise storage "$STORAGE_PID"
if NOTIFY_SOCKET=elsewhere "$TAPEDECK_BIN/tapedeck-storage" --state "$WORK/none" --rail r0=tcp:127.0.0.1 2>"$WORK/refused"; then
  fail "a wrong NOTIFY_SOCKET is taken"
fi
grep -q 'NOTIFY_SOCKET.*ARGUMENT_INVALID' "$WORK/refused" || fail "not named: $(<"$WORK/refused")"
