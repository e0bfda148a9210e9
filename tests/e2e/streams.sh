#!/usr/bin/env bash
# Every command that takes a recording's name takes a whole stream of segments, or the one segment that is named, and says
# so: export, copy, move, verify, show, update, keep, annotate, explain, trace, view, mount, play, delete and Python. Nothing is
# taken as a piece in silence, of streams that are whole, that have lost a segment, and that are under way.
# Arguments: which of these steps; none: all.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

SEGMENT=$MIB # 16 blocks of 64 KiB
BYTES=$((6 * MIB + 300002))
SAMPLES=$((BYTES / 2))

same() { cmp "$1" "$2" || fail "$2 is not what $1 is"; }

# export_of NAME FILE [OPTION...]
export_of() { tapectl_json recordings export "$1" --format raw --to "$2" "${@:3}"; }

# refused REASON COMMAND...: it names a remedy, and makes no file.
refused() {
  local answer status=0
  answer=$(tapectl_json "${@:2}" 2>/dev/null) || status=$?
  ((status != 0)) || fail "${*:2} is not refused"
  json_is "$answer" ".error.reason == \"$1\"" "${*:2}"
  [[ $1 != ARGUMENT_INVALID ]] || json_is "$answer" '.error.message | contains("segment") or contains("closed")' "the remedy of ${*:2}"
}

segments_of() { tapectl_json recordings list --segments "$1" | jq -c '.recordings | sort_by(.segment)[]'; }

slice() { tail -c +$(($2 + 1)) "$1" | head -c "$3"; }

exports() {
  local name
  for name in l0/c0/latest "$STREAM" "${STREAM##*/}"; do
    rm -f "$WORK/out.bin"
    json_is "$(export_of "$name" "$WORK/out.bin")" ".samples == $SAMPLES and .missing_samples == 0" "export $name"
    same "$WORK/in.bin" "$WORK/out.bin"
  done
  export_of l0/c0/latest "$WORK/one.bin" --segment 2 >/dev/null
  same <(slice "$WORK/in.bin" $((2 * SEGMENT)) "$SEGMENT") "$WORK/one.bin"
  export_of l0/c0/latest "$WORK/range.bin" --from-sample 1000000 --to-sample 2234567 >/dev/null
  same <(slice "$WORK/in.bin" 2000000 2469134) "$WORK/range.bin"
  refused RECORDING_NOT_FOUND recordings export l0/c0/latest --segment 7 --format raw --to "$WORK/none.bin"
}

# By samples of the stream, wherever they lie; of a segment that lacks it is refused.
annotates() {
  local at=$((3 * SEGMENT / 2 + 1000))
  tapectl annotate l0/c0/latest --from-sample "$at" --to-sample $((at + 10)) --label here >/dev/null
  json_is "$(segments_of l0/c0 | jq -sc 'map(select(.annotations != []) | .segment)')" '. == [3]' "the segment that is marked"
  refused ARGUMENT_INVALID annotate l0/c0/latest --from-sample "$SAMPLES" --label beyond
  tapectl recordings export l0/c0/latest --format sigmf --to "$WORK/marked" >/dev/null
  same "$WORK/in.bin" "$WORK/marked.sigmf-data"
  json_is "$(cat "$WORK/marked.sigmf-meta")" "(.captures | length) == 1 and .annotations ==
    [{\"core:sample_start\": $at, \"core:sample_count\": 10, \"core:label\": \"here\"}]" "the annotation of the export"
  json_is "$(cat "$WORK/marked.sigmf-meta")" "(.captures[0][\"core:datetime\"] // null) ==
    $(tapectl_json recordings show l0/c0/latest | jq '.start_time // null')" "the start of the export"
}

notes() {
  tapectl recordings update l0/c0/latest --label site=north >/dev/null
  json_is "$(segments_of l0/c0 | jq -sc 'map(.labels.site)')" 'length == 7 and all(. == "north")' "labels of all segments"
  tapectl recordings update l0/c0/latest --segment 1 --label site=south >/dev/null
  tapectl recordings update l0/c0/latest --segment 1 --label seen=burst >/dev/null
  json_is "$(segments_of l0/c0 | jq -sc 'map(.labels.site)')" '.[1] == "south" and .[2] == "north"' "the label of one"
  json_is "$(tapectl_json recordings show l0/c0/latest)" '.labels == {"site": "north", "seen": "burst"}' "labels of the stream"
  tapectl recordings update l0/c0/latest --label seen- >/dev/null
  json_is "$(tapectl_json recordings show l0/c0/latest)" '.labels == {"site": "north"}' "labels of the stream"
  tapectl keep l0/c0/latest >/dev/null
  json_is "$(segments_of l0/c0 | jq -sc 'map(.kept)')" 'length == 7 and all' "all segments are kept"
  tapectl keep --release l0/c0/latest --segment 4 >/dev/null
  json_is "$(segments_of l0/c0 | jq -sc 'map(.kept)')" '[.[] | select(. | not)] | length == 1' "one is released"
  tapectl recordings show l0/c0/latest | grep '^kept  *6 of 7 segments$' >/dev/null || fail "show does not say what is kept"
  tapectl keep --release l0/c0/latest >/dev/null
}

looks() {
  json_is "$(tapectl_json recordings show l0/c0/latest)" ".segments == 7 and .bytes == $BYTES" "show"
  json_is "$(tapectl_json recordings show l0/c0/latest --segment 6)" ".segment == 6 and .blocks == 5" "show one"
  tapectl recordings show l0/c0/latest --segment 6 | grep '^first sample  *[1-9]' >/dev/null || fail "show does not say where it begins"
  json_is "$(tapectl_json recordings show l0/c0/latest --segment 6)" ".first_sample == 6 * $SEGMENT / 2" "where one begins"
  tapectl play l0/c0/latest --segment 6 --from-sample 1000 --to-sample 3000 --sink "file:$WORK/cut.bin" --replace >/dev/null
  same <(slice "$WORK/in.bin" $((6 * SEGMENT + 2000)) 4000) "$WORK/cut.bin"
  expect_error_in "$(tapectl_json play l0/c0/latest --segment 6 --sink null --from-sample 150001 2>&1 || true)" \
    INVALID_ARGUMENT ARGUMENT_INVALID
  json_is "$(tapectl_json recordings verify l0/c0/latest)" '.checked_blocks == 101 and .segments == 7 and .gone_segments == 0' "verify"
  json_is "$(tapectl_json recordings verify l0/c0/latest --segment 1)" '.checked_blocks == 16' "verify one"
  json_is "$(tapectl_json view l0/c0/latest --columns 64 --rows 14)" \
    ".sample_count == $SAMPLES and .rows == 14 and all(.powers[]; .[0] != null)" "view"
  json_is "$(tapectl_json view l0/c0/latest --segment 6 --columns 64 --rows 14)" '.sample_count == 150001' "view one"
  json_is "$(tapectl_json play l0/c0/latest --sink null | tail -n 1)" '.blocks == 101' "play"
  json_is "$(tapectl_json play l0/c0/latest --segment 6 --sink null | tail -n 1)" '.blocks == 5' "play one"
}

explains() {
  local all one
  tapectl record l0/made --source synth --blocks 80 >/dev/null
  all=$(tapectl_json explain l0/made/latest)
  one=$(tapectl_json explain l0/made/latest --segment 0)
  json_is "{\"all\": $all, \"one\": $one}" '.all.elapsed_s > .one.elapsed_s and .one.elapsed_s > 0' "explain"
  tapectl trace l0/made/latest --to "$WORK/made.pftrace" >/dev/null || fail "there is no trace of the stream"
  json_is "$(tapectl_json play l0/made/latest --sink verify | tail -n 1)" '.lost_blocks == 0' "verify by playing"
}

# An annotation that lasts over the edge of a segment is in both, also in an export of the second alone, and of a range.
lasts() {
  local edge=$((SEGMENT / 8))
  local cut='.annotations == [{"core:sample_start": 0, "core:sample_count": 15, "core:label": "over"}]'
  tapectl record l0/made --source synth --blocks 40 >/dev/null
  tapectl annotate l0/made/latest --from-sample $((edge - 5)) --to-sample $((edge - 5 + 20)) --label over >/dev/null
  tapectl recordings export l0/made/latest --segment 1 --format sigmf --to "$WORK/over" >/dev/null
  json_is "$(cat "$WORK/over.sigmf-meta")" "$cut" "the export of a segment"
  tapectl recordings export l0/made/latest --from-sample "$edge" --to-sample $((edge + 100)) --format sigmf --to "$WORK/range" >/dev/null
  json_is "$(cat "$WORK/range.sigmf-meta")" "$cut" "the export of a range"
  json_is "$(tapectl_json recordings show l0/made/latest --segment 1)" "[.annotations[] | [.sample_start, .sample_count]] == [[$edge, 15]]" "show one"
  json_is "$(tapectl_json recordings show l0/made/latest --segment 2)" '.annotations == []' "show the next"
}

mounts() {
  mkdir -p "$WORK/mnt"
  "$TAPEDECK_BIN/tapectl" mount l0/c0/latest "$WORK/mnt" >"$WORK/mount.log" 2>&1 &
  local mounter=$!
  if ! wait_for 15 mountpoint -q "$WORK/mnt"; then
    echo "not mounted here: $(tail -n 1 "$WORK/mount.log")"
    wait "$mounter" || return 0
  fi
  same "$WORK/in.bin" "$WORK/mnt/${STREAM##*/}.sigmf-data"
  json_is "$(cat "$WORK/mnt/${STREAM##*/}.sigmf-meta")" '(.captures | length) == 1 and (.annotations | length) == 1' "the meta that is mounted"
  kill -INT "$mounter"
  timeout 20 tail --pid="$mounter" -f /dev/null || fail "the mount does not end"
  wait "$mounter" || fail "mount: $(cat "$WORK/mount.log")"
}

python_reads() {
  if ! /usr/bin/python3 -c 'import numpy, grpc' 2>/dev/null; then
    echo "not read by Python: no python3-numpy or python3-grpcio"
    return
  fi
  PYTHONPATH=$TAPEDECK_ROOT/services/python /usr/bin/python3 - "$TAPEDECK_STORAGE" "$WORK/in.bin" <<'PYTHON'
import sys, numpy, tapedeck
expected = numpy.fromfile(sys.argv[2], numpy.uint8).reshape(-1, 2)
with tapedeck.connect(sys.argv[1]) as deck:
    stream = deck.recording("l0/c0/latest")
    assert len(stream) == len(expected), (len(stream), len(expected))
    assert (stream.samples() == expected).all()
    assert (stream.samples(500000, 600000) == expected[500000:1100000]).all()
    assert [block.number for block in stream.blocks()] == list(range(101))
    assert [block.number for block in stream.follow(3)] == list(range(3, 101))
    stream.annotate(2000000, 5, label="python")
    assert [note.label for note in stream.segments[3].annotations].count("python") == 1
    stream.keep()
    assert all(one.info.kept for one in stream.segments)
    stream.keep(False)
    one = deck.recording("l0/c0/latest", segment=2)
    assert (one.samples() == expected[2 << 19:3 << 19]).all()
PYTHON
}

# A copy is one recording; a segment is copied where it is named.
copies() {
  local copy
  copy=$(tapectl_json recordings copy l0/c0/latest --to l0/copies)
  json_is "$copy" '.blocks == 101 and .moved == false' "the copy"
  export_of "$(jq -r .recording <<<"$copy")" "$WORK/copied.bin" >/dev/null
  same "$WORK/in.bin" "$WORK/copied.bin"
  json_is "$(tapectl_json recordings show l0/copies/latest)" ".stream == \"\" and .original == \"$STREAM\"
    and .annotations == $(tapectl_json recordings show l0/c0/latest | jq -c .annotations)" "the copy"
  copy=$(tapectl_json recordings copy l0/c0/latest --to l0/one --segment 5 | jq -r .recording)
  export_of "$copy" "$WORK/copied5.bin" >/dev/null
  same <(slice "$WORK/in.bin" $((5 * SEGMENT)) "$SEGMENT") "$WORK/copied5.bin"
}

# shellcheck disable=SC2016
# What is gone is missing: zeros where the format tells so, else only if that is wanted.
lost() {
  local segments
  # The first segment has the stream's name: a list of segments is no list of what may go.
  mapfile -t segments < <(tapectl_json recordings list l0/c0 --segments | jq -r '.recordings[-3:][].name')
  refused ARGUMENT_INVALID recordings delete --yes "${segments[@]}"
  refused ARGUMENT_INVALID recordings delete "$STREAM" </dev/null
  json_is "$(tapectl_json recordings show l0/c0/latest)" '.segments == 7' "the stream after refusals"
  tapectl recordings delete l0/c0/latest --segment 3 >/dev/null
  tapectl recordings export l0/c0/latest --format sigmf --to "$WORK/gap" >/dev/null
  json_is "$(cat "$WORK/gap.sigmf-meta")" "[.annotations[] | select(.[\"core:label\"] == \"missing\")
    | [.[\"core:sample_start\"], .[\"core:sample_count\"]]] == [[$((3 * SEGMENT / 2)), $((SEGMENT / 2))]]" "the gap"
  cp "$WORK/in.bin" "$WORK/holed.bin"
  dd if=/dev/zero of="$WORK/holed.bin" bs=1M seek=3 count=1 conv=notrunc status=none
  same "$WORK/holed.bin" "$WORK/gap.sigmf-data"
  refused BLOCK_DAMAGED recordings export l0/c0/latest --format raw --to "$WORK/raw.bin"
  json_is "$(tapectl_json recordings verify l0/c0/latest)" '.segments == 6 and .gone_segments == 1' "verify what is left"
  json_is "$(tapectl_json recordings show l0/c0/latest)" '.blocks == 101 and .missing_blocks == 16' "show what is left"
  # As of any missing blocks: the part of the file has zeros, and the job fails.
  json_is "$(tapectl_json play l0/c0/latest --sink "file:$WORK/played.bin" | tail -n 1)" '.blocks == 101 and .lost_blocks == 16
    and .error.reason == "BLOCK_DAMAGED"' "play what is left"
  same "$WORK/holed.bin" "$WORK"/played.bin.part-*
  json_is "$(tapectl_json recordings copy l0/c0/latest --to l0/one)" '.blocks == 101 and .missing_blocks == 16' "copy what is left"
  json_is "$(tapectl_json view l0/c0/latest --columns 64 --rows 14)" '[.powers[] | .[0] == null] | . as $gone | [range(14)] | map(select($gone[.])) == [7, 8]' "view what is left"
  # The stream keeps its name, also where its first segment was copied before it went.
  tapectl recordings copy l0/c0/latest --to l0/one --segment 0 >/dev/null
  tapectl recordings delete l0/c0/latest --segment 0 >/dev/null
  json_is "$(tapectl_json recordings show "$STREAM")" '.segments == 5 and .first_segment == 1' "the stream without its first segment"
  # More is gone than there is.
  for segment in 2 4 5; do tapectl recordings delete l0/c0/latest --segment "$segment" >/dev/null; done
  refused ARGUMENT_INVALID recordings export l0/c0/latest --format sigmf --to "$WORK/much"
  refused ARGUMENT_INVALID recordings copy l0/c0/latest --to l0/one
  [[ ! -e $WORK/much.sigmf-data ]] || fail "a refused export has left a file"
}

moves() {
  tapectl recordings import l0/c0 "$WORK/in.bin" --format raw >/dev/null
  local stream copy
  stream=$(tapectl_json recordings show l0/c0/latest | jq -r .name)
  copy=$(tapectl_json recordings move l0/c0/latest --to l0/copies)
  json_is "$copy" '.moved and .blocks == 101' "the move"
  json_is "$(tapectl_json recordings list l0/c0)" "[.recordings[] | select(.name == \"$stream\")] == []" "the original"
  export_of "$stream" "$WORK/moved.bin" >/dev/null
  same "$WORK/in.bin" "$WORK/moved.bin"
}

has_segments() { tapectl_json recordings show "$1" | jq -e ".segments >= $2" >/dev/null; }

under_way() {
  local answer out
  CHANNEL=l0/live
  begin_ingest udp=127.0.0.1:0
  "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --rate 2MB --packet-bytes 1440 --duration 1h >/dev/null 2>&1 &
  local sender=$!
  wait_for 30 has_segments l0/live/latest 4 || fail "the stream does not grow"
  refused ARGUMENT_INVALID keep l0/live/latest
  refused ARGUMENT_INVALID recordings update l0/live/latest --label a=b
  refused ARGUMENT_INVALID recordings copy l0/live/latest --to l0/one
  refused ARGUMENT_INVALID recordings move l0/live/latest --to l0/one
  refused RECORDING_BUSY recordings delete l0/live/latest
  tapectl keep l0/live/latest --segment 1 >/dev/null
  answer=$(tapectl_json recordings export l0/live/latest --format sigmf --to "$WORK/live")
  json_is "$answer" ".samples >= 3 * $SEGMENT / 2" "the export of a stream under way"
  json_is "$(tapectl_json view l0/live/latest --columns 64 --rows 8)" ".sample_count >= 3 * $SEGMENT / 2" "view"
  json_is "$(tapectl_json recordings verify l0/live/latest)" '.segments >= 3 and .open_segments >= 1' "verify"
  tapectl annotate l0/live/latest --from-sample $((SEGMENT / 2)) --label second >/dev/null
  kill "$sender"
  tapectl jobs stop "$(job .name)" >/dev/null
  end_ingest
  out=$(segments_of l0/live | jq -sc 'map(select(.annotations | map(.label) | index("second")) | .segment)')
  json_is "$out" '. == [1]' "the mark of a stream under way"
  export_of l0/live/latest "$WORK/all.bin" --gaps >/dev/null
  cmp -n "$(stat -c %s "$WORK/live.sigmf-data")" "$WORK/live.sigmf-data" "$WORK/all.bin" || fail "the export is no beginning of the stream"
}

begin_test
start_storage
start_worker
lun_of_kind posix l0 --capacity 2GiB
tapectl channel create l0/c0 --datatype cu8 --block-bytes 64KiB --sample-rate 1e6 --segment "$SEGMENT" >/dev/null
tapectl channel create l0/live --datatype cu8 --block-bytes 64KiB --sample-rate 1e6 --segment "$SEGMENT" >/dev/null
tapectl channel create l0/made --block-bytes 64KiB --sample-rate 1e6 --segment "$SEGMENT" >/dev/null
for channel in copies one; do tapectl channel create "l0/$channel" --datatype cu8 --block-bytes 64KiB --sample-rate 1e6 >/dev/null; done
head -c "$BYTES" /dev/urandom >"$WORK/in.bin"
tapectl record l0/c0 --source "file:$WORK/in.bin" >/dev/null
STREAM=$(tapectl_json recordings list l0/c0 | jq -r '.recordings[0].name')
STEPS=("$@")
((${#STEPS[@]} > 0)) || STEPS=(exports looks annotates notes explains lasts mounts python_reads copies lost moves under_way)
for step in "${STEPS[@]}"; do
  "$step"
  echo "$step: done"
done
json_is "$(tapectl_json kinds)" '[.kinds[] | select(.command == "recordings export" and .kind == "stream in segments")][0].takes' "kinds"
