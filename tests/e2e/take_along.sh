#!/usr/bin/env bash
# What recordings become and come from as files: real signals go in by one format and out by another, byte for byte, whatever
# the LUN stripes them over; the published schema, numpy, libsndfile and tar read what comes out.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SIGMF=$(dirname "${BASH_SOURCE[0]}")/sigmf
SCHEMA=$DATA/sigmf-schema/sigmf-schema.json
ADSB=$DATA/adsb_modes_cu8_2Msps.bin
LOGO=$DATA/sigmf_logo.sigmf-meta

same() { cmp "$1" "$2" || fail "$2 is not what $1 is"; }

# take CHANNEL FORMAT FILE [OPTION...]: the newest recording there.
take() { tapectl_json recordings export "$1/latest" --format "$2" --to "$3" "${@:4}"; }

# bring CHANNEL FORMAT FILE [OPTION...]
bring() { tapectl_json recordings import "$1" "$3" --format "$2" "${@:4}"; }

begin_test
[[ -e $SCHEMA ]] || skip "no shared data: $SCHEMA"
start_storage
OUT=$WORK/out
mkdir -p "$OUT" "$WORK/m0" "$WORK/m1" "$WORK/m2"

# Over three members, where no file holds the samples as they are.
tapectl lun create l --store posix --member "$WORK/m0" --member "$WORK/m1" --member "$WORK/m2" --capacity 2GiB >/dev/null
tapectl channel create l/adsb --datatype cu8 --block-bytes 64KiB --sample-rate 2e6 >/dev/null
tapectl channel create l/logo --datatype "$(jq -r '.global["core:datatype"]' "$LOGO")" --block-bytes 64KiB \
  --sample-rate "$(jq -r '.global["core:sample_rate"]' "$LOGO")" >/dev/null

ANSWER=$(bring l/adsb raw "$ADSB")
json_is "$ANSWER" ".bytes == $(stat -c %s "$ADSB") and .missing_samples == 0" "the import"
take l/adsb raw "$OUT/adsb.bin" >/dev/null
same "$ADSB" "$OUT/adsb.bin"

# Its two channels in turn make no recording, and do as one of twice the rate.
! bring l/logo sigmf "$LOGO" >"$WORK/refused.json" 2>/dev/null || fail "two channels became one recording"
json_is "$(cat "$WORK/refused.json")" '.error.reason == "FILE_INVALID" and (.error.message | contains("num_channels"))' "the refusal"
jq 'del(.global["core:num_channels"])' "$LOGO" >"$WORK/logo.sigmf-meta"
ln -s "$(realpath "${LOGO%-meta}-data")" "$WORK/logo.sigmf-data"
LOGO=$WORK/logo.sigmf-meta
bring l/logo sigmf "$LOGO" >/dev/null
take l/logo sigmf "$OUT/logo" >/dev/null
same "${LOGO%-meta}-data" "$OUT/logo.sigmf-data"
json_is "$(cat "$OUT/logo.sigmf-meta")" ".captures[0][\"core:frequency\"] == $(jq '.captures[0]["core:frequency"] // null' "$LOGO")" "the frequency"

# Annotations and all go through an archive, and back.
tapectl annotate l/adsb/latest --from-sample 4096 --to-sample 4196 --label burst >/dev/null
take l/adsb sigmf "$OUT/adsb.sigmf" >/dev/null
tar -C "$OUT" -xf "$OUT/adsb.sigmf" || fail "tar does not read the archive"
same "$ADSB" "$OUT/adsb/adsb.sigmf-data"
bring l/adsb sigmf "$OUT/adsb.sigmf" >/dev/null
take l/adsb sigmf "$OUT/again" >/dev/null
same "$ADSB" "$OUT/again.sigmf-data"
json_is "$(cat "$OUT/again.sigmf-meta")" '.annotations == [{"core:sample_start": 4096, "core:sample_count": 100, "core:label": "burst"}]' "the annotation"

# A range, to the sample.
take l/adsb raw "$OUT/range.bin" --from-sample 1000 --to-sample 124456 >/dev/null
same <(tail -c +2001 "$ADSB" | head -c 246912) "$OUT/range.bin"

# None that is there is replaced.
! take l/adsb raw "$OUT/range.bin" >"$WORK/refused.json" 2>/dev/null || fail "a file was replaced"
json_is "$(cat "$WORK/refused.json")" '.error.reason == "FILE_EXISTS"' "the refusal"

take l/adsb wav "$OUT/adsb.wav" >/dev/null
bring l/adsb wav "$OUT/adsb.wav" >/dev/null
take l/adsb raw "$OUT/from-wav.bin" >/dev/null
same "$ADSB" "$OUT/from-wav.bin"

if /usr/bin/python3 -c 'import numpy, soundfile' 2>/dev/null; then
  /usr/bin/python3 - "$OUT/adsb.wav" "$ADSB" <<'PYTHON'
import sys, numpy, soundfile
samples, rate = soundfile.read(sys.argv[1], dtype="int16", always_2d=True)
expected = numpy.fromfile(sys.argv[2], numpy.uint8).reshape(-1, 2)
assert rate == 2000000 and ((samples >> 8) + 128 == expected).all(), (rate, samples[:4], expected[:4])
print(f"libsndfile: {len(samples)} samples")
PYTHON
else
  echo "not held against libsndfile: no python3-soundfile"
fi

if ! take l/adsb hdf5 "$OUT/adsb.h5" >/dev/null 2>"$WORK/hdf5.log"; then
  grep -q "built without HDF5" "$WORK/hdf5.log" || fail "hdf5: $(cat "$WORK/hdf5.log")"
  echo "no HDF5 in this build"
elif /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
  /usr/bin/python3 - "$OUT/adsb.h5" "$ADSB" <<'PYTHON'
import sys, h5py, numpy
file = h5py.File(sys.argv[1])
samples, expected = file["samples"], numpy.fromfile(sys.argv[2], numpy.uint8).reshape(-1, 2)
read = samples[:]
assert (read["r"] == expected[:, 0]).all() and (read["i"] == expected[:, 1]).all(), read[:4]
assert samples.attrs["sample_rate"] == 2e6 and len(file["missing"]) == 0, dict(samples.attrs)
print(f"h5py: {len(samples)} samples of {samples.dtype}")
PYTHON
else
  echo "not held against h5py"
fi

# Every packet is one for tshark, and what they carry are the samples.
take l/adsb vita49-pcap "$OUT/adsb.pcap" --packet-samples 256 >/dev/null
if command -v tshark >/dev/null; then
  tshark -n -r "$OUT/adsb.pcap" -d udp.port==4991,vrt -Y '_ws.malformed or _ws.expert.severity >= error or not vrt' >"$WORK/bad" 2>/dev/null
  [[ ! -s $WORK/bad ]] || fail "malformed: $(head -n 3 "$WORK/bad")"
  tshark -n -r "$OUT/adsb.pcap" -d udp.port==4991,vrt -Y 'vrt.type == 1' -T fields -e vrt.data 2>/dev/null |
    tr -d ':\n' | xxd -r -p >"$WORK/carried"
  same <(head -c "$(stat -c %s "$WORK/carried")" "$ADSB") "$WORK/carried"
  (($(stat -c %s "$ADSB") - $(stat -c %s "$WORK/carried") < 4)) || fail "tshark has only $(stat -c %s "$WORK/carried") bytes"
else
  echo "not held against tshark"
fi

# And back: by packets and by HDF5, where there are whole samples.
ADSB_WHOLE=$(($(stat -c %s "$ADSB") / 2 * 2))
bring_back() {
  bring l/adsb "$1" "$OUT/$2" >/dev/null
  take l/adsb raw "$OUT/from-$1.bin" >/dev/null
  same <(head -c "$ADSB_WHOLE" "$ADSB") "$OUT/from-$1.bin"
}
bring_back vita49-pcap adsb.pcap
[[ ! -e $OUT/adsb.h5 ]] || bring_back hdf5 adsb.h5

# A sample rate that is not the channel's is refused unless told; start and frequency can be told as well.
tapectl channel create l/told --datatype cu8 --block-bytes 64KiB --sample-rate 1e6 >/dev/null
! bring l/told wav "$OUT/adsb.wav" >"$WORK/refused.json" 2>/dev/null || fail "another rate was taken"
json_is "$(cat "$WORK/refused.json")" '.error.reason == "FILE_INVALID" and (.error.message | contains("--sample-rate 1000000"))' \
  "the refused rate"
! bring l/told wav "$OUT/adsb.wav" --stream 7 >"$WORK/refused.json" 2>/dev/null || fail "a WAV has a stream"
json_is "$(cat "$WORK/refused.json")" '.error.reason == "ARGUMENT_INVALID"' "the refused stream"
[[ $(tapectl_json recordings list l/told | jq '.recordings | length') == 0 ]] || fail "a refused import left a recording"
ANSWER=$(bring l/told wav "$OUT/adsb.wav" --sample-rate 1e6 --start 2024-01-02T03:04:05Z --frequency 1090e6)
json_is "$ANSWER" '.notes | any(.code == "TOLD_OTHERWISE" and .what == "sample_rate" and .file == "2000000" and .told == "1000000")' "the note about the rate"
take l/told sigmf "$OUT/told" >/dev/null
json_is "$(cat "$OUT/told.sigmf-meta")" \
  '.captures[0] | .["core:frequency"] == 1090e6 and (.["core:datetime"] | startswith("2024-01-02T03:04:05"))' "what was told"

# An export that is killed goes on where it was.
tapectl channel create l/long --block-bytes 1MiB --sample-rate 1e9 >/dev/null
head -c 37000003 /dev/urandom >"$WORK/tile.bin" # the tiles begin nowhere alike in a block
for _ in {1..17}; do cat "$WORK/tile.bin"; done >"$WORK/long.bin"
bring l/long raw "$WORK/long.bin" >/dev/null
"$TAPEDECK_BIN/tapectl" recordings export l/long/latest --format sigmf --to "$OUT/long" >/dev/null 2>&1 &
EXPORT_PID=$!
has_saved() { jq -e '.offset > 0' "$OUT/long.sigmf-data.export.json" >/dev/null 2>&1 || ! kill -0 "$EXPORT_PID" 2>/dev/null; }
wait_for 60 has_saved || fail "no mark was written"
if kill -9 "$EXPORT_PID" 2>/dev/null; then
  wait "$EXPORT_PID" 2>/dev/null || true
  ! take l/long sigmf "$OUT/long" >/dev/null 2>&1 || fail "went on without being told to"
  ANSWER=$(take l/long sigmf "$OUT/long" --resume)
  json_is "$ANSWER" ".resumed_at > 0" "going on"
fi
same "$WORK/long.bin" "$OUT/long.sigmf-data"
[[ -z $(find "$OUT" -name '*.export*') ]] || fail "something is left of exports: $(ls "$OUT")"

with_packages "$SIGMF" ajv
node "$SIGMF/validate.js" "$SCHEMA" "$OUT"/*.sigmf-meta "$OUT"/adsb/*.sigmf-meta || fail "a meta does not keep to SigMF's schema"
