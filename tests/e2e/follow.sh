#!/usr/bin/env bash
# A recording is played while it is made: from its beginning, from some time ago and held back. A triggered channel
# keeps what was before and after a trigger, to the sample. Markers stay with the recording.
#   follow.sh [STORE]   all of it on LUNs of that kind
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A memory LUN for the trigger: the machine's disk shall not decide.
FOLLOWED=${1:-posix} TRIGGERED=${1:-memory}
BLOCKS=$(scaled 400)
RATE=$((8192 * 50)) # samples per second: 50 blocks of 64 KiB of cf32_le

# has_blocks BLOCKS: that are durable of what is being recorded.
has_blocks() { tapectl_json recordings show follow/c0/latest | jq -e ".state == \"RECORDING\" and .durable_watermark > $1" >/dev/null; }

# play_into NAME OPTION...: in the background, its answer in WORK/NAME.json.
play_into() {
  tapectl_json play "follow/c0/latest" --follow --sink verify "${@:2}" >"$WORK/$1.json" 2>&1 &
  PLAYERS+=($!)
}

three_play() {
  tapectl_json jobs list | jq -e '[.jobs[] | select(.direction == "PLAYBACK" and .state == "RUNNING" and .blocks > 0)] | length == 3'
}

# The recording goes on until everything has been asked, however fast this machine is. With two slots it waits for the node.
while_recording() {
  local name blocks pid
  PLAYERS=()
  lun_with_channel "$FOLLOWED" follow/c0 cf32_le 64KiB
  start_job record follow/c0 --source synth --duration 1h --slots 2
  expect_error_in "$(tapectl_json play follow/c0/latest --sink null 2>&1 || true)" FAILED_PRECONDITION RECORDING_BUSY
  tapectl annotate follow/c0/latest --from-sample 1000 --to-sample 1005 --label burst >/dev/null
  play_into whole
  play_into shifted --from-time -100ms
  play_into held --from-block 10 --behind 200ms
  wait_for 20 three_play || fail "they do not play: $(tail -n 1 "$WORK"/{whole,shifted,held}.json)"
  wait_for 60 has_blocks "$BLOCKS" || fail "the recording does not go on"
  stop_job
  ((JOB_STATUS == 0)) || fail "the recording failed: $ANSWER"
  for pid in "${PLAYERS[@]}"; do
    wait "$pid" || fail "a job failed: $(tail -n 1 "$WORK"/{whole,shifted,held}.json)"
  done
  last_json_of "$ANSWER"
  name=$(jq -r .recording <<<"$LAST_JSON")
  blocks=$(jq .blocks <<<"$LAST_JSON")
  ((blocks > BLOCKS)) || fail "only $blocks blocks were recorded"
  json_is "$(tail -n 1 "$WORK/whole.json")" ".blocks == $blocks and .lost_blocks == 0" "whole"
  json_is "$(tail -n 1 "$WORK/shifted.json")" ".blocks > 0 and .blocks < $blocks and .lost_blocks == 0" "shifted"
  json_is "$(tail -n 1 "$WORK/held.json")" ".blocks == $blocks - 10 and .lost_blocks == 0" "held"
  json_is "$(tapectl_json recordings show "$name")" ".blocks == $blocks and .annotations == [{\"sample_start\": 1000, \"sample_count\": 5, \"label\": \"burst\", \"comment\": \"\", \"details\": \"\", \"foreign\": false}]" "markers"
  json_is "$(tapectl_json scrub start follow --rate 100GB)" ".state == \"DONE\" and .blocks == $blocks and .damaged == 0" "scrub"
  echo "$blocks blocks played while they were recorded"
}

triggered() {
  local answer name first end
  CAPACITY=32MiB lun_with_channel "$TRIGGERED" trig/plain cf32_le 64KiB
  tapectl channel create trig/t --block-bytes 64KiB --sample-rate "$RATE" --commit received --pre-trigger 1s \
    --post-trigger 500ms >/dev/null
  start_job record trig/t --source synth --duration 1h --slots 4
  json_is "$(tapectl_json trigger trig/t --sample 1000000000000)" '.captures[0].recording == ""' "a sample that is to come"
  answer=$(tapectl_json trigger trig/t --label seen)
  name=$(jq -r '.captures[0].recording' <<<"$answer")
  first=$(jq '.captures[0].first_sample' <<<"$answer")
  end=$(jq '.captures[0].end_sample' <<<"$answer")
  wait_for 20 is_closed "$name" || fail "$name is not closed"
  stop_job
  ((JOB_STATUS == 0)) || fail "the stream failed: $ANSWER"
  # 1 s before and 0.5 s after: 75 blocks, and one more because the trigger lies within a block.
  json_is "$(jq -c '.captures[0]' <<<"$answer")" ".end_sample - .trigger_sample == $RATE / 2" "$answer"
  json_is "$(tapectl_json recordings show "$name")" \
    ".state == \"SEALED\" and .blocks * 8192 >= $end - $first and .blocks <= 76" "the capture $answer"
  json_is "$(tapectl_json play "$name" --sink verify | tail -n 1)" '.lost_blocks == 0' "play $name"
  expect_error_in "$(tapectl_json trigger trig/t 2>&1 || true)" FAILED_PRECONDITION CHANNEL_NOT_TRIGGERED
  echo "the trigger kept samples $first to $end"
}

begin_test
[[ ${1:-} != rados ]] || STORAGE_OPTIONS=(--ceph-conf "${TAPEDECK_CEPH_CONF:?names no cluster}")
start_storage
start_worker
while_recording
triggered
