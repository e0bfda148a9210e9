#!/usr/bin/env bash
# A recording in a directory (FUSE): random reads give what was recorded while it grows and while it is scrubbed, nothing can be
# written, and when the node goes away whoever reads has an error, and nothing stays mounted.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/ingest_lib.sh"

begin_test
[[ -e /dev/fuse ]] || skip "no /dev/fuse"
start_storage
start_worker
DIR=$WORK/mnt
mkdir "$DIR"
READS=1000 GROWS_S=3
[[ ${TAPEDECK_LONG:-} != 1 ]] || READS=10000 GROWS_S=75

is_mounted() { grep -q "^mounted" "$WORK/mount.log"; }

# mount_it RECORDING: MOUNT_PID serves it.
mount_it() {
  : >"$WORK/mount.log"
  env --default-signal=INT "$TAPEDECK_BIN/tapectl" mount "$1" "$DIR" >"$WORK/mount.log" 2>&1 &
  MOUNT_PID=$!
  wait_for 20 mounted_or_ended || fail "nothing was mounted: $(cat "$WORK/mount.log")"
  if ! is_mounted; then
    grep -q "built without FUSE\|the kernel does not" "$WORK/mount.log" || fail "not mounted: $(cat "$WORK/mount.log")"
    skip "$(tail -n 1 "$WORK/mount.log")"
  fi
  DATA_FILE=$(ls "$DIR"/*.sigmf-data)
}
mounted_or_ended() { is_mounted || ! kill -0 "$MOUNT_PID" 2>/dev/null; }
trap_unmount() { fusermount3 -uz "$WORK/mnt" 2>/dev/null || umount -l "$WORK/mnt" 2>/dev/null || true; }
trap 'trap_unmount; end_test' EXIT

# reads_right FILE EXPECTED COUNT: at random places, of random lengths; EXPECTED may be longer than what is there by now.
reads_right() {
  python3 - "$@" <<'PYTHON'
import os, random, sys
path, expected_path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(7)
file, expected = os.open(path, os.O_RDONLY), os.open(expected_path, os.O_RDONLY)
largest = os.fstat(expected).st_size
sizes = set()
for i in range(count):
    size = os.fstat(file).st_size
    sizes.add(size)
    at, n = random.randrange(max(size, 1)), random.choice((1, 7, 4096, 70000, 300000))
    got = os.pread(file, n, at)
    assert len(got) >= min(n, size - at), (at, n, size, len(got))
    assert got == os.pread(expected, len(got), at), f"{n} bytes at {at} differ"
print(f"{count} reads, of {len(sizes)} sizes up to {max(sizes)} of {largest}")
PYTHON
}

lun_with_channel posix l/c cu8 256KiB
head -c $((40 * MIB + 12346)) /dev/urandom >"$WORK/samples.bin"
tapectl recordings import l/c "$WORK/samples.bin" --format raw >/dev/null
mount_it l/c/latest
tapectl scrub start l --rate 20MB >/dev/null
reads_right "$DATA_FILE" "$WORK/samples.bin" "$READS"
cmp "$WORK/samples.bin" "$DATA_FILE" || fail "the file is not what was recorded"
jq -e '.global["core:datatype"] == "cu8"' "$DIR"/*.sigmf-meta >/dev/null || fail "the meta"
! touch "$DIR/new" 2>/dev/null || fail "a file was made"
! tapectl mount l/c/latest "$WORK" >/dev/null 2>&1 || fail "mounted over files"
# The second one comes while the first unmounts.
kill -INT "$MOUNT_PID"
sleep 0.05
kill -INT "$MOUNT_PID"
wait "$MOUNT_PID" || fail "Ctrl-C is no failure: $(cat "$WORK/mount.log")"
[[ -z $(ls "$DIR") ]] || fail "something is still mounted"

# While it grows: what was read then is what an export has afterwards.
tapectl channel create l/grows --block-bytes 64KiB --sample-rate 1e9 >/dev/null
CHANNEL=l/grows RECORD_OPTIONS=(--resume-for 0s)
begin_ingest "tcp=127.0.0.1:0"
"$TAPEDECK_BIN/tapedeck-emulator" --tcp "127.0.0.1:$PORT" --duration "${GROWS_S}s" --rate 20MB --packet-bytes 8192 >/dev/null &
has_begun() { tapectl_json recordings show l/grows/latest | jq -e '.durable_watermark > 2'; }
wait_for 30 has_begun >/dev/null || fail "nothing is recorded"
mount_it l/grows/latest
python3 - "$DATA_FILE" "$WORK/reads" "$JOB_PID" "$READS" <<'PYTHON'
import hashlib, os, random, sys
random.seed(8)
file = os.open(sys.argv[1], os.O_RDONLY)
sizes = set()
with open(sys.argv[2], "w") as reads:
    for i in range(100_000):
        size = os.fstat(file).st_size
        sizes.add(size)
        at, n = random.randrange(max(size, 1)), random.choice((1, 7, 4096, 70000))
        got = os.pread(file, n, at)
        assert len(got) >= min(n, size - at), (at, n, size, len(got))
        print(at, len(got), hashlib.sha256(got).hexdigest(), file=reads)
        if not os.path.exists(f"/proc/{sys.argv[3]}"):
            break
assert i >= int(sys.argv[4]) // 5 and len(sizes) > 2, "too few reads while it grew"
print(f"{i + 1} reads of {len(sizes)} sizes up to {max(sizes)}")
PYTHON
end_ingest
is_whole "$ANSWER" "what grew"
tapectl recordings export l/grows/latest --format raw --to "$WORK/grown.bin" >/dev/null
python3 - "$WORK/grown.bin" "$WORK/reads" <<'PYTHON'
import hashlib, os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
for line in open(sys.argv[2]):
    at, n, digest = line.split()
    assert hashlib.sha256(os.pread(file, int(n), int(at))).hexdigest() == digest, line
PYTHON

# The node goes away.
exec 7<"$DATA_FILE"
kill -9 "${SERVICE_PIDS[0]}"
STATUS=0
timeout 60 cat <&7 >/dev/null 2>&1 || STATUS=$?
((STATUS != 124)) || fail "a read hangs"
exec 7<&-
STATUS=0
timeout 60 tail --pid="$MOUNT_PID" -f /dev/null || fail "the mount outlives its node"
wait "$MOUNT_PID" || STATUS=$?
((STATUS == 5)) || fail "exit status $STATUS: $(cat "$WORK/mount.log")"
[[ -z $(ls "$DIR") ]] || fail "something is still mounted"
grep NODE_UNREACHABLE "$WORK/mount.log" | tail -n 1
