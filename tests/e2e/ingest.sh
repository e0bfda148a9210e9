#!/usr/bin/env bash
# A stream that tapedeck-emulator sends over the network is recorded whole. Of one with losses, what is there and what is named as lost
# are all that was sent, to the sample. A device that falls silent, or sends something else, ends its job with a named error.
# TAPEDECK_LONG=1: also a minute at 500 MB/s through an FFT, and as fast as the emulator sends, which may be more than can be taken.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

SAMPLE_BYTES=8
BLOCK_SAMPLES=8192

# adds_up WHAT: what is there and what is named as lost, by the recording's index and annotations, is what was sent. Sets LOST.
adds_up() {
  local recording sent there annotated missing
  recording=$(tapectl_json recordings show "$(jq -r .recording <<<"$ANSWER")")
  sent=$(jq .samples <<<"$SENT")
  annotated=$(jq '[.annotations[] | select(.label == "lost") | .sample_count] | add // 0' <<<"$recording")
  missing=$(jq ".missing_blocks * $BLOCK_SAMPLES" <<<"$recording")
  there=$(($(jq .bytes <<<"$recording") / SAMPLE_BYTES - annotated))
  LOST=$((annotated + missing))
  ((there + LOST == sent)) || fail "$1: $there recorded, $annotated + $missing lost, $sent sent: $ANSWER"
  echo "$1: $sent samples sent, $there recorded, $annotated lost in blocks, $missing with blocks, at $(jq .mb_per_s <<<"$SENT") MB/s"
}

# loses_what_was_dropped WHAT: and nothing else.
loses_what_was_dropped() {
  adds_up "$1"
  ((LOST == $(jq .dropped_samples <<<"$SENT"))) || fail "$1: $LOST lost, of $SENT"
}

# is_as_sent WHAT: each sample is its own, or a zero where the annotations say so.
is_as_sent() {
  local recording
  recording=$(jq -r .recording <<<"$ANSWER")
  tapectl play "$recording" --sink "file:$WORK/played.bin" --replace >/dev/null
  tapectl_json recordings show "$recording" >"$WORK/recording.json"
  python3 -c '
import array, json, sys
played, expected = array.array("Q"), array.array("Q", range(1, int(sys.argv[3]) + 1))
with open(sys.argv[1], "rb") as file:
    played.frombytes(file.read())
for lost in json.load(open(sys.argv[2]))["annotations"]:
    start, count = lost["sample_start"], lost["sample_count"]
    expected[start:start + count] = array.array("Q", bytes(8 * count))
sys.exit(played != expected)' "$WORK/played.bin" "$WORK/recording.json" "$(jq .samples <<<"$SENT")" || fail "$1: other samples than were sent"
}

# follow_each_other CHANNEL SAMPLES SEGMENTS: each of the newest stream starts so many samples, of a microsecond, after the one before.
follow_each_other() {
  local n
  for ((n = 0; n < $3; ++n)); do tapectl_json recordings show "$1/latest" --segment "$n"; done | jq -es --argjson step "$2" '
    [.[].start_time | (.[:19] + "Z" | fromdate) * 1000000 + (.[20:26] | tonumber)] |
      [.[1:], .[:-1]] | transpose | all(.[0] - .[1] - $step | fabs <= 1)'
}

begin_test
need python3
start_storage
start_worker
CAPACITY=256MiB lun_with_channel memory l0/c0 cf32_le 64KiB

record_stream udp --count 2000007 --rate 40MB --packet-bytes 1440
is_whole "$ANSWER" "a stream of datagrams"
loses_what_was_dropped "datagrams"
is_as_sent "datagrams"

record_stream tcp --count 2000007 --packet-bytes 1440
is_whole "$ANSWER" "a connection"
loses_what_was_dropped "a connection"
is_as_sent "a connection"

record_stream udp --count 1000000 --rate 40MB --packet-bytes 1440 --first-number 4294967000 --drop 10000 --drop-run 3 --repeat 10000 --reorder 10000
json_is "$ANSWER" '.state == "SUCCEEDED" and .lost_blocks == 0' "parts of blocks are lost"
loses_what_was_dropped "losses"
is_as_sent "losses"

record_stream udp --count 1000000 --rate 40MB --packet-bytes 1440 --drop 2000 --drop-run 150 --seed 3
json_is "$ANSWER" '.state == "FAILED" and .lost_blocks > 0' "blocks are lost"
expect_error_in "$ANSWER" DATA_LOSS BLOCK_DAMAGED
loses_what_was_dropped "lost blocks"

tapectl channel create l0/s0 --datatype cf32_le --block-bytes 64KiB --segment 1MiB --sample-rate 1e6 >/dev/null
CHANNEL=l0/s0 record_stream udp --count 600000 --rate 4MB --packet-bytes 1440
is_whole "$ANSWER" "segments"
follow_each_other l0/s0 131072 5 >/dev/null || fail "segments that do not start by the sample rate: $(tapectl recordings list l0/s0)"

ANSWER=$(tapectl_json record l0/c0 --source ingest:udp=127.0.0.1:0,timeout=0.2) && fail "a silent device was recorded"
expect_error_in "$ANSWER" DEADLINE_EXCEEDED SOURCE_SILENT
ANSWER=$(tapectl_json record l0/c0 --source ingest:udp=127.0.0.1:0,tcp=127.0.0.1:0 2>&1) && fail "two transports were taken"
expect_error_in "$ANSWER" INVALID_ARGUMENT ARGUMENT_INVALID

if [[ ${TAPEDECK_LONG:-} == 1 ]]; then
  BLOCK_SAMPLES=131072 CHANNEL=fast/c0 RECORD_OPTIONS=(--fft 1024)
  CAPACITY=32GiB lun_with_channel memory "$CHANNEL" cf32_le 1MiB
  record_stream udp --duration 60s --rate 500MB --packet-bytes 8192
  loses_what_was_dropped "a minute at 500 MB/s"
  tapectl recordings delete "$(jq -r .recording <<<"$ANSWER")" >/dev/null
  record_stream udp --duration 5s --packet-bytes 8192
  adds_up "as fast as it can"
fi
