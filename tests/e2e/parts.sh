#!/usr/bin/env bash
# One recording over three storage nodes: each holds a part, and together they play what was recorded. Channels that are not alike,
# nodes that are named twice, and commands that are about one node are refused.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/nodes_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/nodes_lib.sh"

NODES=3
BLOCKS=$(scaled 6000 1000)

begin_test
for ((i = 0; i < NODES; ++i)); do
  PORTS[i]=$(free_port)
  ADDRESSES[i]=127.0.0.1:${PORTS[i]}
  start_node "$i"
  mkdir -p "$WORK/member$i"
  at "$i" lun create l0 --store posix --member "$WORK/member$i" --capacity 16GiB >/dev/null
  at "$i" channel create l0/c0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
done
ALL=$(IFS=, && echo "${ADDRESSES[*]}")
export TAPEDECK_STORAGE=$ALL
start_worker

recorded=$(tapectl_json record l0/c0 --source synth --blocks "$BLOCKS") || fail "it does not record: $recorded"
json_is "$recorded" ".blocks == $BLOCKS and .lost_blocks == 0" "a recording in parts"
listed=$(tapectl_json recordings list l0/c0)
json_is "$listed" ".recordings | length == 1 and (.[0] | .state == \"SEALED\" and .blocks == $BLOCKS)" "one line of three parts"
for ((i = 0; i < NODES; ++i)); do
  part=$(TAPEDECK_STORAGE=${ADDRESSES[i]} tapectl_json recordings list l0/c0)
  json_is "$part" ".recordings[0] | .part.number == $((i + 1)) and .part.parts == $NODES and .blocks > 0 and .missing_blocks == 0" "part $i"
done
json_is "$(tapectl_json recordings verify l0/c0/latest)" ".damaged == [] and .checked_blocks == $BLOCKS" "all parts"
json_is "$(at 0 recordings verify l0/c0/latest)" '.damaged == [] and (.part | test("^part 1 of [0-9]$"))' "one part alone"
played=$(tapectl_json play l0/c0/latest --sink verify) || fail "it does not play: $played"
json_is "$played" ".blocks == $BLOCKS and .lost_blocks == 0" "playing it"
name=$(jq -r '.recordings[0].name' <<<"$listed")
cut=$(tapectl_json play "$name" --sink "file:$WORK/part.bin" --from-sample 10000 --to-sample 50000) || fail "no range: $cut"
(($(stat -c %s "$WORK/part.bin") == 40000 * 8)) || fail "the range has $(stat -c %s "$WORK/part.bin") bytes"
tapectl play "$name" --sink "file:$WORK/whole.bin" >/dev/null
cmp <(tail -c +80001 "$WORK/whole.bin" | head -c 320000) "$WORK/part.bin" || fail "the range has other samples"
tapectl recordings export "$name" --format raw --to "$WORK/exported.bin" >/dev/null || fail "it is not exported"
cmp "$WORK/exported.bin" "$WORK/whole.bin" || fail "an export has other bytes than a playback"
tapectl recordings export "$name" --format raw --to "$WORK/piece.bin" --from-sample 10000 --to-sample 50000 >/dev/null
cmp "$WORK/piece.bin" "$WORK/part.bin" || fail "an export of some samples has others"

# A group whose first member is in parts.
for ((i = 0; i < NODES; ++i)); do
  at "$i" channel create l0/g0 --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
done
recorded=$(tapectl_json record --group mixed --source synth:noise=0 --start-in "$(slow 1)s" --blocks 200 \
  --member "$TAPEDECK_WORKER=${ADDRESSES[0]},${ADDRESSES[1]}/l0/g0" --member "$TAPEDECK_WORKER=${ADDRESSES[2]}/l0/g0") ||
  fail "a group with parts does not record: $recorded"
played=$(tapectl_json play --group mixed --sink "file:$WORK/mixed-%m.bin") || fail "a group with parts does not play: $played"
json_is "$played" '.jobs | length == 2 and all(.blocks == 200 and .lost_blocks == 0)' "both members"
cmp "$WORK/mixed-1.bin" "$WORK/mixed-2.bin" || fail "the member in parts has other samples"
tapectl recordings export --group mixed --format sigmf --to "$WORK/mixed" >/dev/null || fail "a group with parts is not exported"
cmp "$WORK/mixed/mixed-1.sigmf-data" "$WORK/mixed-1.bin" || fail "its export has other bytes than a playback"

# What cannot be.
answer=$(tapectl_json --storage "${ADDRESSES[0]},${ADDRESSES[0]}" record l0/c0 --source synth --blocks 8) && fail "twice: $answer"
expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
answer=$(tapectl_json lun list) && fail "a list of LUNs of three nodes: $answer"
expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
for i in 0 1 2; do at "$i" channel create l0/c1 --block-bytes "$((64 << (i == 2)))KiB" >/dev/null; done
answer=$(tapectl_json record l0/c1 --source synth --blocks 8) && fail "channels that differ: $answer"
expect_error_in "$answer" FAILED_PRECONDITION CHANNEL_IN_USE
at 0 recordings update "$name" --label a=b >/dev/null
json_is "$(TAPEDECK_STORAGE=${ADDRESSES[0]} tapectl_json recordings show "$name")" '.part.number == 1 and .part.parts == 3 and .labels == {a: "b"}' "what an update changes"
answer=$(TAPEDECK_STORAGE=${ADDRESSES[0]} tapectl_json recordings export "$name" --format raw --to "$WORK/x") && fail "exported: $answer"
answer=$(tapectl_json recordings delete "$name" --segment 0) && fail "a segment of parts: $answer"
expect_error_in "$answer" INVALID_ARGUMENT ARGUMENT_INVALID
start_job record l0/c0 --source synth --duration 4s
is_written() { tapectl_json recordings list l0/c0 | jq -e 'any(.recordings[]; .state == "RECORDING")' >/dev/null; }
wait_for 10 is_written || fail "no recording is under way"
answer=$(tapectl_json recordings delete --dry-run l0/c0/latest) && fail "parts that are being recorded: $answer"
expect_error_in "$answer" FAILED_PRECONDITION RECORDING_BUSY
end_job
tapectl recordings delete "$name" >/dev/null
for i in 0 1 2; do ! at "$i" recordings show "$name" >/dev/null 2>&1 || fail "node $i still has its part"; done
