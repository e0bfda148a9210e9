#!/usr/bin/env bash
# One worker records into another one's inlet, no storage between: what comes verifies, file to file it is the same bytes, a rail that
# is cut costs nothing, and everything that can go wrong at an inlet has a name and an end: no inlet, one that is taken, nobody who
# comes, a job that is cancelled, a worker that takes no streams. Ends that are killed are the matter of kills.sh.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
# shellcheck source=tests/e2e/inlets_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/inlets_lib.sh"
own_the_rails "$@"

BLOCKS=$(scaled 400 20)

sender_failed() { TAPEDECK_WORKER=$SENDER job 'select(.state == "FAILED")' -e; }

# ends_well INLET BLOCKS: both ends have all of them.
ends_well() {
  wait "$RECEIVE_PID" || fail "receiving at $1: $(cat "$WORK/received.json")"
  json_is "$SENT" ".state == \"SUCCEEDED\" and .blocks == $2 and .recording == \"inlets/$1\"" "sending to $1"
  json_is "$(cat "$WORK/received.json")" ".state == \"SUCCEEDED\" and .direction == \"PLAYBACK\" and .blocks == $2 and .lost_blocks == 0" "receiving at $1"
}

begin_test
start_two

start_receive fft --sink verify
SENT=$(send fft --source synth --fft 1024 --blocks "$BLOCKS") || fail "$SENT"
ends_well fft "$BLOCKS"
json_is "$(cat "$WORK/received.json")" '[.notes[] | select(.code == "CONTENT_NOT_COMPARED")] == []' "what was compared"
echo "$BLOCKS blocks of spectra verify at $(jq '.mb_per_s | floor' "$WORK/received.json") MB/s"

head -c $((5 * MIB + 4321)) /dev/urandom >"$WORK/source.bin"
for op in READ WRITE SEND; do
  start_receive file --sink "file:$WORK/sink.bin" --replace --datatype cu8 --block-bytes 64KiB --op "$op"
  SENT=$(send file --source "file:$WORK/source.bin") || fail "$SENT"
  ends_well file 81
  cmp "$WORK/source.bin" "$WORK/sink.bin" || fail "other bytes than were sent by $op"
done
echo "a file came as it was by READ, WRITE and SEND"

# A rail that is cut under way, and comes back.
start_receive cut --sink verify
send cut --source synth --fft 64 --duration 2s >"$WORK/sent.json" &
SEND_PID=$!
wait_for 10 runs || fail "the stream does not begin: $(received)"
cut_connections
wait "$SEND_PID" || fail "a stream ended with its rail: $(cat "$WORK/sent.json")"
SENT=$(cat "$WORK/sent.json")
ends_well cut "$(jq .blocks <<<"$SENT")"
json_is "$SENT" '[.rails[] | select(.blocks > 0)] | length == 2' "the rails of a stream through a cut"
echo "a rail that was cut cost none of $(jq .blocks <<<"$SENT") blocks"

# Refusals, at once.
SENT=$(send nowhere --source synth --blocks 1) && fail "an inlet that is not there took a stream"
expect_error_in "$SENT" NOT_FOUND INLET_NOT_FOUND
start_receive taken --sink null
ANSWER=$(receive taken --sink null) && fail "an inlet was opened twice"
expect_error_in "$ANSWER" ALREADY_EXISTS INLET_BUSY
TAPEDECK_WORKER=$SENDER tapectl record --to "$RECEIVER/taken" --source synth --duration 600s --detach >/dev/null
wait_for 10 runs || fail "the stream does not begin: $(received)"
SENT=$(send taken --source synth --blocks 1) && fail "an inlet took two streams"
expect_error_in "$SENT" FAILED_PRECONDITION INLET_BUSY
TAPEDECK_WORKER=$RECEIVER tapectl jobs cancel "$(received .name)" >/dev/null
ends_with CANCELLED JOB_CANCELLED
wait_for 10 sender_failed || fail "its sender goes on: $(TAPEDECK_WORKER=$SENDER job)"
ANSWER=$(receive late --sink null --wait 200ms) && fail "nobody came, and it succeeded"
expect_error_in "$ANSWER" DEADLINE_EXCEEDED INLET_TIMED_OUT
ANSWER=$(TAPEDECK_WORKER=$SENDER tapectl_json receive off --sink null) && fail "a worker without --inlets took a stream"
expect_error_in "$ANSWER" FAILED_PRECONDITION INLETS_OFF
ANSWER=$(receive wrong --sink null --datatype cf33_le) && fail "an unknown datatype was taken"
expect_error_in "$ANSWER" INVALID_ARGUMENT DATATYPE_INVALID
start_receive unwritable --sink "file:$WORK/no/such/folder"
SENT=$(send unwritable --source synth --blocks 1) && fail "a sink that cannot be opened took a stream"
! wait "$RECEIVE_PID" || fail "a sink that cannot be opened was opened"
echo "no inlet, one taken, nobody, cancelled, off, wrong: each has its name"
