#!/usr/bin/env bash
# What a SigMF file says survives an import, a copy, a move, a recording by a worker, and an export of each; an import that
# ends early leaves no recording.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

make_inputs() {
  python3 - "$1" <<'END'
import hashlib, json, os, sys
os.chdir(sys.argv[1])
def write(name, data, glob, captures, annotations):
    with open(name + '.sigmf-data', 'wb') as file:
        file.write(data)
    glob = {'core:datatype': 'ci16_le', 'core:sample_rate': 1e6, 'core:version': '1.2.0', **glob}
    with open(name + '.sigmf-meta', 'w') as file:
        json.dump({'global': glob, 'captures': captures, 'annotations': annotations}, file)
data = bytes(range(250)) * 1600
start = {'core:sample_start': 0, 'core:datetime': '2024-01-02T03:04:05Z', 'core:frequency': 915e6, 'capture_details:gain': 30}
write('rich', data, {'core:author': 'A', 'core:hw': 'X310', 'antenna:gain': 3, 'core:geolocation': {'type': 'Point', 'coordinates': [1, 2]}},
      [start], [{'core:sample_start': 10, 'core:sample_count': 5, 'core:label': 'LTE', 'core:freq_lower_edge': 1e6,
                 'core:uuid': 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'}])
write('many', data, {}, [start], [{'core:sample_start': i, 'core:sample_count': 5, 'core:label': 'p%d' % i} for i in range(5000)])
write('changed', data, {'core:sha512': hashlib.sha512(b'other').hexdigest()}, [start], [])
write('large', b'', {}, [start], [])
os.truncate('large.sigmf-data', 8 << 30)
END
}

# says CHANNEL: the newest recording there has all that the file `rich` says.
says() {
  rm -f "$WORK"/said.*
  tapectl recordings export "$1/latest" --format sigmf --to "$WORK/said" >/dev/null || fail "no export of $1"
  json_is "$(cat "$WORK/said.sigmf-meta")" '(.global | .["core:author"] == "A" and .["core:hw"] == "X310" and .["antenna:gain"] == 3
      and .["core:geolocation"] == {"type": "Point", "coordinates": [1, 2]})
    and .captures == [{"core:sample_start": 0, "core:global_index": 0, "core:datetime": "2024-01-02T03:04:05.000000000Z",
      "core:frequency": 915000000, "capture_details:gain": 30}]
    and .annotations == [{"core:sample_start": 10, "core:sample_count": 5, "core:label": "LTE", "core:freq_lower_edge": 1000000,
      "core:uuid": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}]' "what $1 says"
}

# leaves_nothing WHAT: there is no recording in l/none.
leaves_nothing() { json_is "$(tapectl_json recordings list l/none)" '(.recordings // []) == []' "after $1"; }

begin_test
start_storage
start_worker
mkdir -p "$WORK/m0" "$WORK/in"
make_inputs "$WORK/in"
tapectl lun create l --store posix --member "$WORK/m0" >/dev/null
for channel in a b c d none; do
  tapectl channel create "l/$channel" --datatype ci16_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
done

tapectl recordings import l/a "$WORK/in/rich.sigmf-meta" --format sigmf >/dev/null
says l/a
json_is "$(cat "$WORK"/m0/a/*/data.sigmf-meta)" '.global["core:author"] == "A"' "the SigMF in place"
tapectl recordings copy l/a/latest --to l/b >/dev/null
says l/b
tapectl recordings move l/b/latest --to l/c >/dev/null
says l/c
tapectl record l/d --source "file:$WORK/in/rich.sigmf-meta" >/dev/null
says l/d
json_is "$(tapectl_json recordings show l/d/latest)" '.start_time | startswith("2024-01-02T03:04:05")' "the start"

BEGIN=$SECONDS
tapectl recordings import l/a "$WORK/in/many.sigmf-meta" --format sigmf >/dev/null
((SECONDS - BEGIN < 60)) || fail "5000 annotations took $((SECONDS - BEGIN)) s"
json_is "$(tapectl_json recordings show l/a/latest)" '[.annotations[] | select(.label != "signal")] | length == 5000' "the annotations"

! tapectl_json recordings import l/none "$WORK/in/changed.sigmf-meta" --format sigmf >"$WORK/refused.json" 2>/dev/null ||
  fail "changed data came in"
json_is "$(cat "$WORK/refused.json")" '.error.reason == "FILE_INVALID"' "the refusal"
leaves_nothing "data that was changed"

# is_refused WORDS COMMAND...
is_refused() {
  ! tapectl "${@:2}" >"$WORK/refused" 2>&1 || fail "not refused: ${*:2}"
  grep -q "$1" "$WORK/refused" || fail "${*:2}: $(<"$WORK/refused")"
}

# Where what comes would not stay whole.
tapectl channel create l/triggered --datatype ci16_le --block-bytes 64KiB --sample-rate 1e6 --commit received --pre-trigger 10ms >/dev/null
is_refused "keeps only what triggers select" recordings import l/triggered "$WORK/in/rich.sigmf-meta" --format sigmf
is_refused "keeps only what triggers select" recordings copy l/a/latest --to l/triggered
mkdir "$WORK/m1"
tapectl lun create ring --store posix --member "$WORK/m1" --capacity 64MiB --full-policy ring >/dev/null
tapectl channel create ring/c --datatype ci16_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
is_refused "would delete its beginning" recordings import ring/c "$WORK/in/large.sigmf-meta" --format sigmf
is_refused "is a ring" recordings copy l/a/latest --to ring/c
truncate -s 40M "$WORK/in/half.raw"
tapectl recordings import ring/c "$WORK/in/half.raw" --format raw >/dev/null
tapectl keep ring/c/latest >/dev/null
is_refused "bytes are kept, written or read" recordings import ring/c "$WORK/in/half.raw" --format raw
json_is "$(tapectl_json recordings list ring/c)" '[.recordings[] | .blocks] == [640]' "the ring after the refusal"
tapectl keep ring/c/latest --release >/dev/null
tapectl recordings import ring/c "$WORK/in/half.raw" --format raw >/dev/null
json_is "$(tapectl_json recordings show ring/c/latest)" '.blocks == 640 and .missing_blocks == 0' "the import into the ring"

mkdir "$WORK/m2"
tapectl lun create filled --store posix --member "$WORK/m2" --capacity 64MiB --max-fill 50 >/dev/null
tapectl channel create filled/c --datatype ci16_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
is_refused "max_fill" recordings import filled/c "$WORK/in/half.raw" --format raw
truncate -s 20M "$WORK/in/quarter.raw"
tapectl recordings import filled/c "$WORK/in/quarter.raw" --format raw >/dev/null
tapectl recordings import l/a "$WORK/in/quarter.raw" --format raw >/dev/null
is_refused "max_fill" recordings copy l/a/latest --to filled/c
is_refused "max_fill" recordings move l/a/latest --to filled/c
for one in l/a filled/c; do json_is "$(tapectl_json recordings show "$one/latest")" '.bytes == 20971520' "$one after the refusals"; done

# Interrupted as soon as there is a recording; and by a file that becomes shorter.
for end in interrupt truncate; do
  "$TAPEDECK_BIN/tapectl" recordings import l/none "$WORK/in/large.sigmf-meta" --format sigmf >/dev/null 2>&1 &
  IMPORT=$!
  has_begun() { [[ -n $(find "$WORK/m0/none" -name data -size +0 2>/dev/null) ]]; }
  wait_for 60 has_begun || fail "no import has begun"
  if [[ $end == interrupt ]]; then kill -INT "$IMPORT"; else truncate -s 1M "$WORK/in/large.sigmf-data"; fi
  ! wait "$IMPORT" || fail "the import ended well in spite of $end"
  leaves_nothing "$end"
done
