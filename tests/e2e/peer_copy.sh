#!/usr/bin/env bash
# Two workers of one machine with a rail of kind ipc: blocks are copied from one's memory to the other's. What comes verifies and is the
# same bytes, the notes name the way, and each thing that cannot be has a name: a memory that is not shared, a storage node, a claim
# of memory that is not the claimer's. Ends that are killed are the matter of kills.sh.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/inlets_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/inlets_lib.sh"

BLOCKS=$(scaled 2000 60)

# ends_well INLET BLOCKS: both ends have all of them, and say that they were copied.
ends_well() {
  wait "$RECEIVE_PID" || fail "receiving at $1: $(cat "$WORK/received.json")"
  for answer in "$SENT" "$(cat "$WORK/received.json")"; do
    json_is "$answer" ".state == \"SUCCEEDED\" and .blocks == $2 and .lost_blocks == 0" "the stream at $1"
    json_is "$answer" '[.notes[] | select(.code == "MEMORY_PATH" and .path == "peer copy")] | length == 1' "how $1 was reached"
  done
  json_is "$SENT" '[.rails[] | .name] == ["p0"]' "the rails of $1"
}

begin_test
WORKER_RAILS+=(--rail p0=ipc:127.0.0.1)
start_two

start_receive fft --rails p0 --sink verify
SENT=$(send fft --rails p0 --source synth --fft 1024 --blocks "$BLOCKS") || fail "$SENT"
ends_well fft "$BLOCKS"
json_is "$(cat "$WORK/received.json")" '[.notes[] | select(.code == "CONTENT_NOT_COMPARED")] == []' "what was compared"
echo "$BLOCKS blocks of spectra verify at $(jq '.mb_per_s | floor' "$WORK/received.json") MB/s"

head -c $((5 * MIB + 4321)) /dev/urandom >"$WORK/source.bin"
for op in READ WRITE; do
  start_receive file --rails p0 --sink "file:$WORK/sink.bin" --replace --datatype cu8 --block-bytes 64KiB --op "$op"
  SENT=$(send file --rails p0 --source "file:$WORK/source.bin") || fail "$SENT"
  ends_well file 81
  cmp "$WORK/source.bin" "$WORK/sink.bin" || fail "other bytes than were sent by $op"
done
echo "a file came as it was by READ and WRITE"

# Unless it is named the rail is left to others.
start_receive plain --sink null
SENT=$(send plain --source synth --blocks 4) || fail "$SENT"
wait "$RECEIVE_PID" || fail "receiving at plain: $(cat "$WORK/received.json")"
json_is "$SENT" '[.rails[] | .name] | index("p0") == null' "the rails that nobody named"

start_receive mixed --sink null
SENT=$(send mixed --rails p0 --source synth --blocks 4) && fail "a rail was used that the inlet has not"
expect_error_in "$SENT" UNAVAILABLE RAIL_UNREACHABLE
! wait "$RECEIVE_PID" || fail "an inlet took a stream by another rail"

start_storage
tapectl lun create l --store memory --capacity 64MiB >/dev/null
tapectl channel create l/c --datatype cf32_le >/dev/null
ANSWER=$(TAPEDECK_WORKER=$SENDER tapectl_json record l/c --rails p0 --source synth --blocks 4) && fail "a storage node took part in peer copies"
expect_error_in "$ANSWER" UNAVAILABLE RAIL_UNREACHABLE
! "$TAPEDECK_BIN/tapedeck-storage" --listen 127.0.0.1:0 --state "$WORK/other" --rail p0=ipc:127.0.0.1 2>"$WORK/refused.log" ||
  fail "a storage node has a rail of kind ipc"
grep -q "kind ipc connects workers" "$WORK/refused.log" || fail "why not: $(cat "$WORK/refused.log")"
echo "a rail that is not named, or not there, or not for storage: each has its name"
