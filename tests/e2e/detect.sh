#!/usr/bin/env bash
# Bursts at known samples of a file, further apart than the window around a trigger and a block: each is found within a transform
# of where it begins, and has a recording of its own with the whole time before it and after it, byte for byte. Noise has none.
# TAPEDECK_LONG=1: a thousand bursts, and a minute of noise at a million samples a second.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BURSTS=$(scaled 100 20) NOISE_S=4
[[ -z ${TAPEDECK_LONG:-} ]] || BURSTS=1000 NOISE_S=60
POINTS=512
# A second is a block of 64 KiB.
RATE=8192
DETECT=detect:points=$POINTS,low=0.1,high=0.15,threshold=-10

# make_bursts FILE: prints the samples at which they begin. Their frequency is an eighth of the rate, their level 0 dB; the noise
# has -20 dB in all.
make_bursts() {
  python3 - "$1" "$BURSTS" "$RATE" <<'PYTHON'
import array, cmath, random, sys
path, bursts, block = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
choose = random.Random(5)
noise = [complex(choose.gauss(0, 0.07), choose.gauss(0, 0.07)) for _ in range(block)]
tone = [cmath.exp(2j * cmath.pi * i / 8) for i in range(8)]
begins = [(5 * i + 3) * block + choose.randrange(block) for i in range(bursts)]
with open(path, "wb") as out:
    for burst, begin in enumerate(begins):
        # Five blocks, in the fourth and fifth of which the burst lies.
        samples = noise * 5
        at = begin - 5 * burst * block
        for i in range(at, at + 3000):
            samples[i % len(samples)] += tone[i % 8] if i < len(samples) else 0
        array.array("f", (part for z in samples for part in (z.real, z.imag))).tofile(out)
print(*begins)
PYTHON
}

# check_captures FILE BEGIN...: of the recordings on standard input, a JSON each.
check_captures() {
  python3 - "$WORK/member-l" "$POINTS" "$@" 3<&0 <<'PYTHON'
import json, os, pathlib, sys
member, points, path = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
begins = sorted(map(int, sys.argv[4:]))
block, block_bytes = 8192, 65536
before, after = block * 3 // 2, block
source = open(path, "rb").read()
data = {file.parent.name: file for file in member.rglob("data")}
captures = [json.loads(line) for line in os.fdopen(3)]
marks = sorted((a["sample_start"], c["name"], c["state"]) for c in captures for a in c["annotations"])
assert len(captures) == len(begins) == len(marks), (len(captures), len(begins), len(marks))
late = []
for begin, (sample, name, state) in zip(begins, marks):
    assert abs(sample - begin) <= points, f"{name} is triggered at {sample}, the burst begins at {begin}"
    late.append(sample - begin)
    first = max(0, sample - before) // block
    end = min((sample + after - 1) // block + 1, len(source) // block_bytes)
    got = data[name.rsplit("/", 1)[1]].read_bytes()
    assert got == source[first * block_bytes:end * block_bytes], f"{name}: {len(got)} bytes, not blocks {first} to {end}"
print(f"{len(begins)} bursts, {len(captures)} captures; triggered {min(late)} to {max(late)} samples after each began, transforms have {points}")
PYTHON
}

captures() { tapectl_json recordings list "$1" | jq -c '.recordings[]'; }
none_is_open() { [[ -z $(captures "$1" | jq -r 'select(.state == "RECORDING") | .name') ]]; }

begin_test
start_storage
start_worker
mkdir "$WORK/member-l"
tapectl lun create l --store posix --member "$WORK/member-l" --capacity 4GiB >/dev/null
tapectl channel create l/t --block-bytes 64KiB --sample-rate "$RATE" --commit received --pre-trigger 1500ms --post-trigger 1s >/dev/null

read -ra begins < <(make_bursts "$WORK/bursts")
tapectl record l/t --source "file:$WORK/bursts" --transform "$DETECT" >/dev/null
wait_for 30 none_is_open l/t || fail "a capture is not closed"
captures l/t | check_captures "$WORK/bursts" "${begins[@]}"

# The same without a window: marks in the recording itself.
tapectl channel create l/whole --block-bytes 64KiB >/dev/null
tapectl record l/whole --source "file:$WORK/bursts" --transform "$DETECT" >/dev/null
json_is "$(tapectl_json recordings show l/whole/latest)" "[.annotations[] | select(.label == \"trigger\")] | length == $((BURSTS < 1000 ? BURSTS : 1000))" "marks"
rm "$WORK/bursts"

tapectl channel create l/noise --block-bytes 64KiB --sample-rate 1e6 --commit received --pre-trigger 20ms --post-trigger 20ms >/dev/null
tapectl record l/noise --source synth:tones=0.3,noise=0.1 --blocks $((NOISE_S * 1000000 / 8192 + 1)) --transform "$DETECT" >/dev/null
json_is "$(tapectl_json recordings list l/noise)" '.recordings == []' "what noise triggered"
echo "$NOISE_S s of noise: nothing"
