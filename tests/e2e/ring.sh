#!/usr/bin/env bash
# A ring LUN takes a stream that is many times its size and holds the end of it. A trigger keeps the seconds around it,
# to the sample, while the stream goes on over everything else. What is old goes, what is kept stays, also through kill -9.
#   ring.sh [STORE]   all of it on LUNs of that kind
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

STORES=("${1:-posix}" "${1:-direct}")
RATE=$((8192 * 50)) # samples per second: 50 blocks of 64 KiB of cf32_le

# ring STORE LUN CAPACITY
ring() { lun_of_kind "$1" "$2" --capacity "$3" --full-policy ring; }

# Segments of a channel in order, one JSON each.
segments() { tapectl_json recordings list --segments "$1" | jq -c '.recordings | sort_by(.segment)[]'; }

# is_the_end LUN/CHANNEL BLOCKS LEAST: the segments there are hold the last blocks of the stream, at least so many, without a gap.
is_the_end() {
  local all
  all=$(segments "$1" | jq -sc '{count: length, first: .[0].segment, last: .[-1].segment,
    blocks: map(.blocks) | add, streams: map(.stream) | unique | length, sealed: all(.state == "SEALED"), each: .[0].blocks}')
  json_is "$all" ".sealed and .streams == 1 and .last - .first + 1 == .count and .blocks >= $3" "segments of $1"
  json_is "$all" ".last * .each < $2 and (.last + 1) * .each >= $2" "the last segment of $1"
  echo "$1: $2 blocks went in, the last $(jq .blocks <<<"$all") are there"
}

# As much as policies keep free: nothing goes any more then.
has_free_room() {
  tapectl_json lun list | jq -e "[.luns[] | select(.name == \"luns/$1\")][0] | .used_bytes * 32 <= .capacity_bytes * 31"
}

wraps() {
  local name blocks
  blocks=$(scaled 1600)
  ring "$1" "$1" 32MiB
  tapectl channel create "$1/c0" --block-bytes 64KiB >/dev/null
  tapectl record "$1/c0" --source synth --blocks "$blocks" >/dev/null
  wait_for 10 has_free_room "$1" || fail "$1 is not kept free"
  is_the_end "$1/c0" "$blocks" "$((blocks < 400 ? blocks : 400))"
  for name in $(segments "$1/c0" | jq -r .name | sed -n '1p;$p'); do
    json_is "$(tapectl_json play "$name" --sink verify | tail -n 1)" '.lost_blocks == 0' "play $name"
  done
  name=$(tapectl_json recordings list "$1/c0" | jq -r '.recordings | select(length == 1)[0].name')
  json_is "$(tapectl_json recordings verify "$name")" ".damaged == [] and .segments == $(segments "$1/c0" | wc -l)" "the stream of $1"
  json_is "$(tapectl_json play "$name" --sink verify | tail -n 1)" \
    ".lost_blocks == 0 and .blocks == $(segments "$1/c0" | jq -s 'map(.blocks) | add')" "play the stream of $1"
  json_is "$(tapectl_json scrub start "$1" --rate 100GB)" '.state == "DONE" and .damaged == 0' "scrub of $1"
  json_is "$(tapectl_json lun list)" "[.luns[] | select(.name == \"luns/$1\")][0] | .used_bytes <= .capacity_bytes" "room of $1"
}

# The stream goes round the ring while the seconds around a trigger stay.
triggered() {
  local capture kept named first end follower
  ring "${STORES[1]}" trig 64MiB
  tapectl channel create trig/t --block-bytes 64KiB --sample-rate "$RATE" --pre-trigger 1s --post-trigger 500ms >/dev/null
  start_job record trig/t --source synth --duration 1h
  wait_for 20 has_blocks trig/t 100
  tapectl_json play trig/t/latest --follow --from-time -1s --sink verify >"$WORK/follow.json" 2>&1 &
  follower=$!
  capture=$(tapectl_json trigger trig/t --label seen | jq -c '.captures[0]')
  # Twice round the ring, of 1024 blocks.
  wait_for 60 stream_has_blocks "$(scaled 2048)" || fail "the stream does not go on: $(job)"
  stop_job
  ((JOB_STATUS == 0)) || fail "the stream failed: $ANSWER"
  # The ring may overtake it: then it is told.
  wait "$follower" || expect_error_in "$(cat "$WORK/follow.json")" DATA_LOSS RECORDING_NOT_FOUND
  first=$(jq .first_sample <<<"$capture")
  end=$(jq .end_sample <<<"$capture")
  json_is "$capture" ".end_sample - .trigger_sample == $RATE / 2 and .trigger_sample - .first_sample >= $RATE" "the capture"
  kept=$(segments trig/t | jq -sc 'map(select(.kept))')
  json_is "$kept" "length >= 5 and length <= 8 and all(.state == \"SEALED\" and .missing_blocks == 0)" "kept segments"
  # Of 16 blocks each.
  json_is "$kept" ".[0].segment * 16 * 8192 == $first" "the first sample kept"
  json_is "$kept" "((.[-1].segment) + 1) * 16 * 8192 >= $end" "the last sample kept"
  json_is "$kept" '[.[].annotations[] | select(.label == "seen")] | length == 1' "the mark"
  # The segment that the answer names begins with that sample, and its own samples count from 0.
  named=$(jq -r .recording <<<"$capture")
  json_is "$(tapectl_json recordings show "$named")" ".first_sample == $first" "where the capture begins"
  tapectl play "$named" --from-sample 1000 --to-sample 3000 --sink "file:$WORK/cut.raw" --replace >/dev/null
  tapectl recordings export "$named" --from-sample 1000 --to-sample 3000 --format raw --to "$WORK/cut-too.raw" >/dev/null
  cmp "$WORK/cut.raw" "$WORK/cut-too.raw" || fail "play and export count samples differently"
  tapectl annotate "$named" --from-sample 1000 --to-sample 1005 --label here >/dev/null
  json_is "$(tapectl_json recordings show "$named")" "[.annotations[] | select(.label == \"here\") | .sample_start - $first] == [1000]" "the mark"
  json_is "$(tapectl_json play "$named" --sink verify | tail -n 1)" '.lost_blocks == 0' "play the capture"
  echo "trig/t: the trigger kept samples $first to $end in $(jq length <<<"$kept") segments while the ring went on"
}

stream_has_blocks() { tapectl_json jobs list | jq -e "[.jobs[] | select(.direction == \"RECORD\")][0].blocks >= $1"; }
has_blocks() { segments "$1" | jq -se --argjson blocks "$2" 'map(.blocks) | add >= $blocks'; }

keeps_through_a_kill() {
  local name lun=${STORES[0]}
  name=$(segments "$lun/c0" | jq -rs '.[0].name')
  tapectl keep "$name" >/dev/null
  kill_service "$STORAGE_PID"
  start_storage
  tapectl record "$lun/c0" --source synth --blocks "$(scaled 600)" >/dev/null
  json_is "$(tapectl_json recordings show "$name")" '.kept' "$name"
  json_is "$(tapectl_json play "$name" --sink verify | tail -n 1)" '.lost_blocks == 0' "play $name"
  tapectl keep --release "$name" >/dev/null
  tapectl record "$lun/c0" --source synth --blocks "$(scaled 600)" >/dev/null
  if tapectl recordings show "$name" >/dev/null 2>&1; then fail "$name was released and is still there"; fi
}

is_empty() { [[ -z $(tapectl_json recordings list "$1" | jq -r '.recordings[].name') ]]; }

grows_old() {
  lun_of_kind "${STORES[0]}" old --max-age 1s
  tapectl channel create old/c0 --block-bytes 64KiB >/dev/null
  tapectl record old/c0 --source synth --blocks 8 >/dev/null
  wait_for 10 is_empty old/c0 || fail "a recording outlives its age"
}

begin_test
[[ ${1:-} != rados ]] || STORAGE_OPTIONS=(--ceph-conf "${TAPEDECK_CEPH_CONF:?names no cluster}")
start_storage
start_worker
for store in $(printf '%s\n' "${STORES[@]}" | sort -u); do wraps "$store"; done
triggered
keeps_through_a_kill
grows_old
