#!/usr/bin/env bash
# Which samples a playback gives, and when: the first and the last to the sample, a loop without a seam over a thousand turns, at
# the recording's rate, and at a time of its own. What a file has of it is compared byte for byte.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SAMPLES=500000 # of cu8, two bytes each; at 1e6 a second

# bytes_of FIRST END: of these samples, as they were recorded.
bytes_of() {
  dd if="$WORK/samples.bin" iflag=skip_bytes,count_bytes bs=64K skip=$(($1 * 2)) count=$((($2 - $1) * 2)) status=none
}

# play_into_file OPTION...: into out.bin; sets ANSWER.
play_into_file() {
  ANSWER=$(tapectl_json play "$RECORDING" --sink "file:$WORK/out.bin" --replace "$@")
  is_whole "$ANSWER" "playing $*"
}

exact_ends() {
  local first end
  while read -r first end; do
    play_into_file --from-sample "$first" --to-sample "$end"
    bytes_of "$first" "$end" | cmp - "$WORK/out.bin" || fail "samples $first to $end differ"
    json_is "$ANSWER" ".timing.samples == $end - $first" "samples $first to $end"
  done <<<"1 $SAMPLES
12345 300001
32768 65536
$((SAMPLES - 1)) $SAMPLES"
  play_into_file --to-sample 100
  bytes_of 0 100 | cmp - "$WORK/out.bin" || fail "the first 100 samples differ"
}

a_loop() {
  local tens
  bytes_of 20000 32345 >"$WORK/turn"
  for tens in ten hundred thousand; do
    for _ in {1..10}; do cat "$WORK/turn"; done >"$WORK/$tens"
    mv "$WORK/$tens" "$WORK/turn"
  done
  play_into_file --loop 20000:32345 --loop-count 1000
  cmp "$WORK/turn" "$WORK/out.bin" || fail "a thousand turns differ"
  json_is "$ANSWER" '.timing.turns == 1000 and .timing.samples == 12345000' "a loop"
}

# shellcheck disable=SC2016
turns() { job '.name != $before and .timing.turns > 100' -e --arg before "$1"; }

an_endless_loop() {
  local before status=0
  before=$(job '.name // ""')
  tapectl_json play "$RECORDING" --sink null --rate 1000 --loop 100:200 >"$WORK/endless.json" 2>&1 &
  JOB_PID=$!
  wait_for 30 turns "$before" || fail "the loop does not get going: $(cat "$WORK/endless.json")"
  tapectl jobs cancel "$(job .name)" >/dev/null
  wait "$JOB_PID" || status=$?
  ((status != 0)) || fail "a loop without an end ended by itself"
  expect_error_in "$(cat "$WORK/endless.json")" CANCELLED JOB_CANCELLED
}

# Blocks of 32,768 samples: the last one begins after 0.49 s at the rate of the recording.
at_its_rate() {
  local rate seconds
  for rate in recorded 2; do
    seconds=0.49
    [[ $rate == recorded ]] || seconds=0.24
    ANSWER=$(tapectl_json play "$RECORDING" --sink null --rate "$rate")
    is_whole "$ANSWER" "playing at $rate"
    json_is "$ANSWER" ".elapsed_s >= $seconds and .timing.samples == $SAMPLES" "at the rate $rate"
    json_is "$ANSWER" '[.timing.jitter[].blocks] | add == 16' "the jitter of each block at $rate"
    echo "rate $rate: $(jq -c '.timing | {underruns, jitter_p99_s, worst_jitter_s}' <<<"$ANSWER")"
  done
  tapectl play "$RECORDING" --sink null --rate 4 | grep -q 'samples/s: .* underruns; jitter p50' || fail "no words about the pace"
}

at_a_time() {
  local at
  at=$(date -u -d '+2 seconds' +%FT%T.%NZ)
  ANSWER=$(tapectl_json play "$RECORDING" --sink null --rate 8 --at "$at")
  json_is "$ANSWER" '.timing.after_at_s >= 0 and .lost_blocks == 0' "played at $at"
  echo "played $(jq .timing.after_at_s <<<"$ANSWER") s after its time"
  at=$(date -u -d '+2 seconds' +%FT%T.%NZ)
  ANSWER=$(tapectl_json record paced/c0 --source "file:$WORK/samples.bin" --at "$at")
  json_is "$ANSWER" '.timing.after_at_s >= 0 and .timing.first_time != null' "recorded at $at"
  echo "recorded $(jq .timing.after_at_s <<<"$ANSWER") s after its time"
}

begin_test
start_storage
start_worker
head -c $((2 * SAMPLES)) /dev/urandom >"$WORK/samples.bin"
lun_with_channel posix paced/c0 cu8 64KiB
RECORDING=$(tapectl_json record paced/c0 --source "file:$WORK/samples.bin" | jq -r .recording)
exact_ends
a_loop
an_endless_loop
at_its_rate
at_a_time
