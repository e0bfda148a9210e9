#!/usr/bin/env bash
# Streams of VITA 49.2 over UDP, of a device that retunes a hundred times: each retune is annotated at its exact sample, and what is
# annotated as lost, or missing, is what the device says it left out. Packets come doubled and out of order as well. Such a recording,
# played as VITA 49.2 and recorded again, has the same bytes, the same blocks and the same annotations.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SAMPLE_RATE=3e6 # a sample lasts no whole number of picoseconds
BLOCKS=40
BLOCK_SAMPLES=16384

# told_of RECORDING FILE: what the storage node says of it, with the blocks that are not there.
told_of() {
  jq -n --argjson recording "$(tapectl_json recordings show "$1")" \
    --argjson damaged "$(tapectl_json recordings verify "$1" | jq -c '[.damaged[].sequence]')" \
    '$recording + {missing: $damaged, block_samples: '$BLOCK_SAMPLES'}' >"$2"
}

# bytes_of RECORDING FILE: zeros are in the place of what is not there, and the job fails if blocks are.
bytes_of() { tapectl play "$1" --sink "file:$2" --replace >/dev/null 2>"$WORK/play.log" || [[ -e $2 ]] || fail "$(cat "$WORK/play.log")"; }

# is_exact WHAT EMULATOR_OPTION...: records such a stream as FIRST, and plays it into another recording.
is_exact() {
  local what=$1
  shift
  record_stream udp --packets vita49 --sample-rate "$SAMPLE_RATE" --sample-bytes 4 --rate 12MB --packet-bytes 1024 \
    --count $((BLOCKS * BLOCK_SAMPLES)) --retunes 100 "$@"
  FIRST=$(jq -r ".recording // empty" <<<"$ANSWER")
  [[ -n $FIRST ]] || fail "$what: $ANSWER"
  FIRST_ANSWER=$ANSWER
  echo "$SENT" >"$WORK/sent.json"
  told_of "$FIRST" "$WORK/first.json"
  python3 "$HERE/vita49_context.py" sent "$WORK/sent.json" "$WORK/first.json" "$SAMPLE_RATE" || fail "$what: $ANSWER"

  begin_ingest "udp=127.0.0.1:0$INGEST_OPTIONS"
  tapectl play "$FIRST" --sink "udp:address=127.0.0.1:$PORT,packets=vita49,packet_bytes=1024" --rate recorded >/dev/null 2>&1 || true
  end_ingest
  SECOND=$(jq -r ".recording // empty" <<<"$ANSWER")
  [[ -n $SECOND ]] || fail "$what, played: $ANSWER"
  told_of "$SECOND" "$WORK/second.json"
  python3 "$HERE/vita49_context.py" same "$WORK/first.json" "$WORK/second.json" || fail "$what, played: $ANSWER"
  bytes_of "$FIRST" "$WORK/first.bin"
  bytes_of "$SECOND" "$WORK/second.bin"
  cmp "$WORK/first.bin" "$WORK/second.bin" || fail "$what, played: other bytes"
  echo "$what: exact, and the same when played and recorded again"
}

# a_part_of RECORDING: whose first and last sample lie within blocks, and whose retunes are counted from the first.
a_part_of() {
  local blocks=10 first=$((29 * BLOCK_SAMPLES + 5000)) RECORD_OPTIONS=(--blocks 10)
  local end=$((first + blocks * BLOCK_SAMPLES))
  begin_ingest "udp=127.0.0.1:0$INGEST_OPTIONS"
  tapectl play "$1" --sink "udp:address=127.0.0.1:$PORT,packets=vita49" --from-sample "$first" --to-sample "$end" --rate recorded >/dev/null
  end_ingest
  told_of "$(jq -r .recording <<<"$ANSWER")" "$WORK/second.json"
  python3 "$HERE/vita49_context.py" part "$WORK/first.json" "$WORK/second.json" "$first" "$end" || fail "a part: $ANSWER"
}

# are_captured: of such a stream a channel keeps what triggers name alone. Each capture has the retunes and losses of its samples, and
# begins with the frequency that holds there.
are_captured() {
  local sample i CHANNEL=l0/t
  local -a begins=() ends=() captures
  begin_ingest "udp=127.0.0.1:0$INGEST_OPTIONS"
  # Both come after the trigger. 30,000 samples before it and after it are kept, in whole blocks.
  for sample in 168840 496520; do
    wait_for 20 tapectl trigger l0/t --sample "$sample" >/dev/null 2>&1 || fail "no trigger at $sample"
    begins+=($(((sample - 30000) / BLOCK_SAMPLES * BLOCK_SAMPLES)))
    ends+=($(((sample + 30000) / BLOCK_SAMPLES * BLOCK_SAMPLES + BLOCK_SAMPLES)))
  done
  SENT=$("$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" "$@")
  end_ingest
  json_is "$ANSWER" '.state == "SUCCEEDED" and (.captures | length) == 2' "captures"
  json_is "$ANSWER" '[.notes[] | select(.code == "ANNOTATIONS_LEFT_OUT")] | length == 1' "the note of the captures"
  echo "$SENT" >"$WORK/sent.json"
  readarray -t captures < <(jq -r ".captures[]" <<<"$ANSWER")
  for i in 0 1; do
    told_of "${captures[i]}" "$WORK/capture.json"
    json_is "$(<"$WORK/capture.json")" ".blocks == $(((ends[i] - begins[i]) / BLOCK_SAMPLES))" "a capture"
    python3 "$HERE/vita49_context.py" captured "$WORK/sent.json" "$WORK/capture.json" "$SAMPLE_RATE" "${begins[i]}" "${ends[i]}" ||
      fail "a capture: $ANSWER"
  done
}

begin_test
need python3
WORKER_OPTIONS=(--send-allow "127.0.0.1:*")
start_storage
start_worker
tapectl lun create l0 --store memory --capacity 256MiB >/dev/null
tapectl channel create l0/c0 --datatype ci16_be --block-bytes 64KiB --sample-rate "$SAMPLE_RATE" >/dev/null
INGEST_OPTIONS=,packets=vita49
RECORD_OPTIONS=(--blocks "$BLOCKS")

# By these seeds nothing is lost of the last two blocks, nor of the part's: a job ends as soon as it has its last block.
is_exact "parts of blocks are lost" --drop 10000 --drop-run 3 --repeat 20000 --reorder 20000 --seed 5
json_is "$FIRST_ANSWER" '.state == "SUCCEEDED" and .lost_blocks == 0' "parts of blocks are lost"
json_is "$SENT" '(.tuned | length) == 101 and (.lost | length) > 10 and .repeated_packets > 10 and .reordered_packets > 10' \
  "the emulator did not do what it was told"
a_part_of "$FIRST"
tapectl channel create l0/t --datatype ci16_be --block-bytes 64KiB --sample-rate "$SAMPLE_RATE" --commit received --pre-trigger 10ms \
  --post-trigger 10ms >/dev/null
are_captured --packets vita49 --sample-rate "$SAMPLE_RATE" --sample-bytes 4 --rate 12MB --packet-bytes 1024 \
  --count $((BLOCKS * BLOCK_SAMPLES)) --retunes 100 --drop 10000 --drop-run 3 --repeat 20000 --reorder 20000 --seed 5

is_exact "blocks are lost" --drop 1000 --drop-run 200 --repeat 20000 --reorder 20000 --seed 4
json_is "$FIRST_ANSWER" '.state == "FAILED" and .lost_blocks > 0' "blocks are lost"
expect_error_in "$FIRST_ANSWER" DATA_LOSS BLOCK_DAMAGED

# Samples that the packets cannot carry.
tapectl channel create l0/c1 --datatype cf32_le --block-bytes 64KiB --sample-rate "$SAMPLE_RATE" >/dev/null
tapectl record l0/c1 --source synth --blocks 1 >/dev/null
ANSWER=$(tapectl_json play l0/c1/latest --sink udp:address=127.0.0.1:9,packets=vita49 2>&1) && fail "little-endian samples went out"
expect_error_in "$ANSWER" INVALID_ARGUMENT ARGUMENT_INVALID
