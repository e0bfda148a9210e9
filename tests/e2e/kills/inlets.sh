# shellcheck shell=bash disable=SC2034
# Sourced by kills.sh: one worker records into another one's inlet, and either is killed. A stream into an inlet is not resumed.
# shellcheck source=tests/e2e/inlets_lib.sh
source "$TAPEDECK_ROOT/tests/e2e/inlets_lib.sh"

# with_peer_copies: the workers have a rail over which blocks are copied from one's memory to the other's.
with_peer_copies() { WORKER_RAILS+=(--rail p0=ipc:127.0.0.1); }

# stream_to_inlet [OPTION...]: in the background, with these options of both ends; SEND_PID.
stream_to_inlet() {
  start_receive kills --sink null "$@"
  TAPEDECK_WORKER=$SENDER tapectl_json record --to "$RECEIVER/kills" "$@" --source synth --duration 600s >"$WORK/sent.json" 2>"$WORK/send.log" &
  SEND_PID=$!
  wait_for 10 runs || fail "the stream does not begin: $(received)"
}

# receiving_ends: by the name of what was lost; the sender's tapectl fails with its worker.
receiving_ends() {
  ends_with UNAVAILABLE PEER_LOST
  ! wait "$SEND_PID" || fail "a stream ended well without its sender"
  jq -r .error.message "$WORK/received.json"
}

sending_ends() {
  ! wait "$SEND_PID" || fail "a stream went on without its receiver"
  expect_error_in "$(cat "$WORK/sent.json")" UNAVAILABLE PEER_LOST
  json_is "$(cat "$WORK/sent.json")" '.error.message | contains("worker ")' "who was lost"
  jq -r .error.message "$WORK/sent.json"
  wait "$RECEIVE_PID" || true
}

# peers_memory_is_let_go PID: what was copied from memory that is gone reaches nobody.
peers_memory_is_let_go() {
  [[ $(find "/proc/$1/map_files" -lname '*memfd:tapedeck-*' 2>/dev/null | wc -l) -le 1 ]] || fail "memory of a peer is still open"
}
