#!/usr/bin/env bash
# A recording is played while it is made: from its beginning, from some time ago and held back. A triggered channel
# keeps what was before and after a trigger, to the sample. Markers stay with the recording.
#   follow.sh [STORE]   all of it on LUNs of that kind
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A memory LUN for the trigger: the machine's disk shall not decide.
FOLLOWED=${1:-posix} TRIGGERED=${1:-memory}
BLOCKS=$(scaled 800)
RATE=$((131072 * 50)) # samples per second: 50 blocks of 1 MiB of cf32_le

has_begun() { tapectl_json recordings show "$1/latest" | jq -e '.state == "RECORDING" and .durable_watermark > 20' >/dev/null; }

# play_into NAME OPTION...: in the background, its answer in WORK/NAME.json.
play_into() {
  tapectl_json play "follow/c0/latest" --follow --sink verify "${@:2}" >"$WORK/$1.json" 2>&1 &
}

while_recording() {
  local name pids=() pid
  lun_with_channel "$FOLLOWED" follow/c0 cf32_le 1MiB
  tapectl_json record follow/c0 --source synth --blocks "$BLOCKS" >"$WORK/record.json" 2>&1 &
  pids+=($!)
  wait_for 20 has_begun follow/c0 || fail "the recording does not start"
  expect_error_in "$(tapectl_json play follow/c0/latest --sink null 2>&1 || true)" FAILED_PRECONDITION RECORDING_BUSY
  tapectl annotate follow/c0/latest --from-sample 1000 --to-sample 1005 --label burst >/dev/null
  play_into whole && pids+=($!)
  play_into shifted --from-time -100ms && pids+=($!)
  play_into held --from-block 10 --behind 200ms && pids+=($!)
  for pid in "${pids[@]}"; do
    wait "$pid" || fail "a job failed: $(tail -n 1 "$WORK"/{record,whole,shifted,held}.json)"
  done
  name=$(jq -r .recording "$WORK/record.json")
  json_is "$(tail -n 1 "$WORK/whole.json")" ".blocks == $BLOCKS and .lost_blocks == 0" "whole"
  json_is "$(tail -n 1 "$WORK/shifted.json")" ".blocks > 0 and .blocks < $BLOCKS and .lost_blocks == 0" "shifted"
  json_is "$(tail -n 1 "$WORK/held.json")" ".blocks == $BLOCKS - 10 and .lost_blocks == 0" "held"
  json_is "$(tapectl_json recordings show "$name")" '.annotations == [{"sample_start": 1000, "sample_count": 5, "label": "burst", "comment": "", "details": "", "foreign": false}]' "markers"
  json_is "$(tapectl_json scrub start follow --rate 100GB)" ".state == \"DONE\" and .blocks == $BLOCKS and .damaged == 0" "scrub"
  echo "$BLOCKS blocks played while they were recorded"
}

triggered() {
  local answer name first end
  CAPACITY=512MiB lun_with_channel "$TRIGGERED" trig/plain cf32_le 1MiB
  tapectl channel create trig/t --block-bytes 1MiB --sample-rate "$RATE" --commit received --pre-trigger 1s \
    --post-trigger 500ms >/dev/null
  start_job record trig/t --source synth --duration "$(slow 5)s"
  json_is "$(tapectl_json trigger trig/t --sample 1000000000000)" '.captures[0].recording == ""' "a sample that is to come"
  answer=$(tapectl_json trigger trig/t --label seen)
  end_job
  ((JOB_STATUS == 0)) || fail "the stream failed: $ANSWER"
  name=$(jq -r '.captures[0].recording' <<<"$answer")
  first=$(jq '.captures[0].first_sample' <<<"$answer")
  end=$(jq '.captures[0].end_sample' <<<"$answer")
  # 1 s before and 0.5 s after: 75 blocks, and one more because the trigger lies within a block.
  json_is "$(jq -c '.captures[0]' <<<"$answer")" ".end_sample - .trigger_sample == $RATE / 2" "$answer"
  json_is "$(tapectl_json recordings show "$name")" \
    ".state == \"SEALED\" and .blocks * 131072 >= $end - $first and .blocks <= 76" "the capture $answer"
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
