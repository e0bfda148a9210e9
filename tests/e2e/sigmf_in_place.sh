#!/usr/bin/env bash
# A sealed recording is one of SigMF's where it lies: its .sigmf-meta keeps to the published schema, by ajv, also once it is
# annotated; numpy maps its samples in place, and they are those that went in, byte for byte.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SIGMF=$(dirname "${BASH_SOURCE[0]}")/sigmf
SCHEMA=$DATA/sigmf-schema/sigmf-schema.json

# folder_of LUN/CHANNEL: of the newest recording there.
folder_of() { echo "$WORK/member-${1%/*}/${1#*/}/$(tapectl_json recordings show "$1/latest" | jq -r '.name | split("/")[-1]')"; }

fits() { node "$SIGMF/validate.js" "$SCHEMA" "$@" || fail "it does not keep to SigMF's schema"; }

# holds META BYTES_FILE: maps what the meta describes, as it describes it.
holds() {
  /usr/bin/python3 - "$1" "$2" <<'PYTHON'
import json, sys, numpy
meta_path, source = sys.argv[1:]
meta = json.load(open(meta_path))
kind = meta["global"]["core:datatype"]
part = numpy.dtype({"f": "f", "i": "i", "u": "u"}[kind[1]] + str(int("".join(c for c in kind[2:].split("_")[0])) // 8))
samples = numpy.memmap(meta_path.replace("-meta", "-data"), dtype=part.newbyteorder("<"), mode="r")
expected = numpy.fromfile(source, dtype=samples.dtype)
assert samples.size >= expected.size, (samples.size, expected.size)
assert (samples[:expected.size] == expected).all() and not samples[expected.size:].any(), "the samples differ"
assert [c["core:sample_start"] for c in meta["captures"]] == [0], meta["captures"]
print(f"{meta_path.rsplit('/', 2)[1]}: {samples.size} parts of {kind} as they went in, from {meta['captures'][0].get('core:datetime')} on")
PYTHON
}

begin_test
[[ -e $SCHEMA ]] || skip "no shared data: $SCHEMA"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "python3-numpy is not installed"
with_packages "$SIGMF" ajv
start_storage
start_worker

lun_with_channel posix l/adsb cu8 64KiB
tapectl record l/adsb --source "file:$DATA/adsb_modes_cu8_2Msps.bin" >/dev/null
lun_with_channel direct d/logo "$(jq -r '.global["core:datatype"]' "$DATA/sigmf_logo.sigmf-meta")" 64KiB
tapectl record d/logo --source "file:$DATA/sigmf_logo.sigmf-data" >/dev/null
tapectl channel create d/synth --block-bytes 1MiB --sample-rate 1e9 --label antenna=north >/dev/null
tapectl record d/synth --source synth --blocks 8 >/dev/null

ADSB=$(folder_of l/adsb)/data.sigmf-meta LOGO=$(folder_of d/logo)/data.sigmf-meta
holds "$ADSB" "$DATA/adsb_modes_cu8_2Msps.bin"
holds "$LOGO" "$DATA/sigmf_logo.sigmf-data"
tapectl annotate l/adsb/latest --from-sample 4096 --to-sample 4196 --label '<b>burst</b>' --comment 'a "test"' >/dev/null
json_is "$(cat "$ADSB")" '.annotations == [{"core:sample_start": 4096, "core:sample_count": 100, "core:label": "<b>burst</b>", "core:comment": "a \"test\""}]' "the annotation"
fits "$ADSB" "$LOGO" "$(folder_of d/synth)/data.sigmf-meta"
json_is "$(cat "$(folder_of d/synth)/data.sigmf-meta")" '.global["core:sample_rate"] == 1e9' "the sample rate"

# The worker reads SigMF, too: of a recording as of any other file.
tapectl channel create l/again --datatype cu8 --block-bytes 64KiB >/dev/null
tapectl record l/again --source "file:$ADSB" >/dev/null
holds "$(folder_of l/again)/data.sigmf-meta" "$DATA/adsb_modes_cu8_2Msps.bin"
