# shellcheck shell=bash disable=SC2034
# Sourced after lib.sh by tests of streams from one worker to another one's inlet.

# start_two: SENDER and RECEIVER, the addresses, with SENDER_PID and RECEIVER_PID.
start_two() {
  start_worker
  SENDER=$TAPEDECK_WORKER SENDER_PID=$WORKER_PID
  WORKER_PORT='' WORKER_OPTIONS=(--inlets on)
  start_worker
  RECEIVER=$TAPEDECK_WORKER RECEIVER_PID=$WORKER_PID
}

send() { TAPEDECK_WORKER=$SENDER tapectl_json record --to "$RECEIVER/$1" "${@:2}"; }
receive() { TAPEDECK_WORKER=$RECEIVER tapectl_json receive "$@"; }
received() { TAPEDECK_WORKER=$RECEIVER job "$@"; }
is_open() { received "select(.recording == \"inlets/$1\" and .state == \"STARTING\")" -e; }
runs() { received 'select(.state == "RUNNING" and .blocks > 4)' -e; }

# start_receive INLET OPTION...: in the background; RECEIVE_PID, and its answer in WORK/received.json.
start_receive() {
  receive "$@" >"$WORK/received.json" 2>"$WORK/receive.log" &
  RECEIVE_PID=$!
  wait_for 10 is_open "$1" || fail "the inlet $1 does not open: $(cat "$WORK/receive.log")"
}

# ends_with CODE REASON: what was received fails, with such an error.
ends_with() {
  ! wait "$RECEIVE_PID" || fail "what was received did not fail"
  expect_error_in "$(cat "$WORK/received.json")" "$@"
}
