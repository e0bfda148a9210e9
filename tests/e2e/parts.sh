#!/usr/bin/env bash
# One recording over three storage nodes: each holds a part, and together they play what was recorded. One of them is
# killed again and again and comes back; one that stays away is missing, by name, and so are its blocks. Channels that
# are not alike, nodes that are named twice, and commands that are about one node are refused.
#   parts.sh [KILLS [PAUSE]]    so many kills, so many seconds apart: 3 and 0.3 unless told, 120 and 5 with TAPEDECK_LONG, where what is
#                               recorded comes from a device that does not wait
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/e2e/nodes_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/nodes_lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

NODES=3
BLOCKS=$(scaled 6000 1000)
KILLS=${1:-${TAPEDECK_LONG:+120}} PAUSE=${2:-${TAPEDECK_LONG:+5}}
KILLS=${KILLS:-3} PAUSE=${PAUSE:-0.3}

# shellcheck disable=SC2016
runs_again() { job '.notes | map(select(.code == "PART_GOES_ON")) | length == $kills' -e --argjson kills "$1"; }

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
tapectl recordings export "$name" --format raw --to "$WORK/piece.bin" --first 10000 --count 40000 >/dev/null
cmp "$WORK/piece.bin" "$WORK/part.bin" || fail "an export of some samples has others"

# A node is killed again and again while it records.
kill_nodes() {
  local kill victim
  for ((kill = 1; kill <= KILLS; ++kill)); do
    sleep "$PAUSE"
    victim=$((kill % NODES))
    kill_service "${PIDS[victim]}"
    wait_for 10 job_has_more_than "$(job .blocks)" || fail "the others do not go on: $(job)"
    start_node "$victim"
    ((kill > 30)) || wait_for 20 runs_again "$kill" || fail "node $victim does not come back: $(job)"
  done
}
if [[ -z ${TAPEDECK_LONG:-} ]]; then
  start_job record l0/c0 --source synth:noise=0 --duration 1h --resume-for 60s
  kill_nodes
  tapectl jobs cancel "$(job .name)" >/dev/null
  end_job
  expect_error_in "$ANSWER" CANCELLED JOB_CANCELLED
else
  RECORD_OPTIONS=(--resume-for 60s)
  begin_ingest "udp=127.0.0.1:0,timeout=5"
  "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --rate 8MB --duration 1h --packet-bytes 1024 >"$WORK/sent.json" &
  sender=$!
  kill_nodes
  kill -INT "$sender" # it sends the end of the stream
  wait "$sender" || fail "the emulator failed"
  end_ingest
  json_is "$ANSWER" '.state == "SUCCEEDED" and .lost_blocks == 0' "the job over $KILLS kills"
fi
blocks=$(job .blocks)
echo "$KILLS kills, $blocks blocks"
verified=$(tapectl_json recordings verify l0/c0/latest) || fail "the parts are damaged: $verified"
sink=verify # knows what synth makes
[[ -z ${TAPEDECK_LONG:-} ]] || sink=null
played=$(tapectl_json play l0/c0/latest --sink "$sink") || fail "it does not play after kills: $played"
json_is "$played" ".blocks == $blocks and .lost_blocks == 0" "every block is in some part"
exported=$(tapectl_json recordings export l0/c0/latest --format raw --to "$WORK/killed.bin") || fail "no export: $exported"
json_is "$exported" ".missing_samples == 0 and .samples > ($blocks - 1) * 8192 and .samples <= $blocks * 8192" "an export after kills"
[[ -z ${TAPEDECK_LONG:-} ]] || json_is "$exported" ".samples == $(jq .samples "$WORK/sent.json")" "what the device has sent"

# One that stays away: the others end the job well; its part plays as missing, and is named.
start_job record l0/c0 --source synth:noise=0 --blocks $((BLOCKS * 4)) --resume-for 60s
wait_for 20 job_has_more_than $((BLOCKS / 10)) || fail "it does not record: $(job)"
kill_service "${PIDS[1]}"
end_job
((JOB_STATUS == 0)) || fail "the job failed with one node: $ANSWER"
json_is "$ANSWER" ".blocks == $((BLOCKS * 4)) and .lost_blocks == 0" "the job over two nodes"
played=$(tapectl_json play l0/c0/latest --sink null) && fail "it is whole without a part: $played"
json_is "$played" ".lost_blocks > 0 and (.notes | any(.code == \"PART_ABSENT\" and .part == \"2\" and .parts == \"3\"))" "a missing part"
tapectl recordings list l0/c0 2>/dev/null | grep -q 'parts 1, 3 of 3' || fail "the list does not say what is missing"
answer=$(tapectl_json recordings export l0/c0/latest --format raw --to "$WORK/gaps.bin" 2>/dev/null) && fail "no gap: $answer"
expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
answer=$(tapectl_json recordings verify l0/c0/latest) && fail "verified without a part: $answer"
start_node 1
at 1 recordings list l0/c0 | grep -q SALVAGED || fail "the lost part is not salvaged: $(at 1 recordings list)"
played=$(tapectl_json play l0/c0/latest --sink verify) || fail "it is not whole with the salvaged part: $played"
json_is "$played" ".blocks == $((BLOCKS * 4)) and .lost_blocks == 0" "with the salvaged part"

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
tapectl recordings delete "$name" >/dev/null
for i in 0 1 2; do ! at "$i" recordings show "$name" >/dev/null 2>&1 || fail "node $i still has its part"; done
