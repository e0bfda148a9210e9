#!/usr/bin/env bash
# Runs in the virtual machine: a disk that fails under the storage node, by the kernel's own errors. One sector cannot
# be read: its block is named, and all but that page plays. All writes fail, or everything does, while a session
# records: it ends with STORE_IO, member and cause, nothing hangs, and what was acknowledged plays once the disk is sound.
#   io_errors.sh posix|direct|device [fail_writes|fail_all...]     posix and direct on ext4, device on the disk itself
export TAPEDECK_RAILS="r0=tcp:127.0.0.2" DM_DISABLE_UDEV=1
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/lab/guest.sh
source "$TAPEDECK_ROOT/tests/lab/guest.sh"

DISK=/dev/ram0 DISK_KIB=$((320 * 1024)) DEVICE=/dev/mapper/failing
BLOCKS=24 BLOCK_BYTES=65536 BAD_BLOCK=10
SECTORS=$((DISK_KIB * 2))

# become < TABLE: what the device does from now on, without waiting for what is under way.
become() {
  dmsetup load failing
  dmsetup suspend --noflush --nolockfs failing
  dmsetup resume failing
}

sound() { become <<<"0 $SECTORS linear $DISK 0"; }
fail_writes() { become <<<"0 $SECTORS flakey $DISK 0 0 3600 1 error_writes"; }
fail_all() { become <<<"0 $SECTORS error"; }

# fail_reads_at SECTOR: of 4096 bytes there.
fail_reads_at() {
  printf '0 %d linear %s 0\n%d 8 error\n%d %d linear %s %d\n' "$1" "$DISK" "$1" \
    $(($1 + 8)) $((SECTORS - $1 - 8)) "$DISK" $(($1 + 8)) | become
}

# begin_disk KIND: an empty one; sets MEMBER.
begin_disk() {
  modprobe brd rd_nr=1 rd_size="$DISK_KIB"
  dmsetup create failing --table "0 $SECTORS linear $DISK 0"
  MEMBER=$DEVICE
  [[ $1 != device ]] || return 0
  mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$DEVICE"
  mkdir -p "$WORK/mnt"
  mount "$DEVICE" "$WORK/mnt"
  MEMBER=$WORK/mnt/member
  mkdir "$MEMBER"
}

# begin_node KIND: with the channels raw, of samples from a file, and synth.
begin_node() {
  start_storage
  tapectl lun create "$1" --store "$1" --member "$MEMBER" >/dev/null
  tapectl channel create "$1/raw" --datatype cu8 --block-bytes "$BLOCK_BYTES" --sample-rate 1e6 >/dev/null
  tapectl channel create "$1/synth" --datatype cf32_le --block-bytes "$BLOCK_BYTES" --sample-rate 1e6 >/dev/null
}

# sector_of BLOCK: where on the disk the block of the source file lies.
sector_of() {
  sync
  blockdev --flushbufs "$DISK"
  /usr/bin/python3 - "$DISK" "$WORK/source" "$1" "$BLOCK_BYTES" <<'PYTHON'
import mmap, os, sys
disk, source, block, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
wanted = open(source, "rb").read()[block * size:][:64]
with open(disk, "rb") as device:
    size = device.seek(0, os.SEEK_END)
    print(mmap.mmap(device.fileno(), size, prot=mmap.PROT_READ).find(wanted) // 512)
PYTHON
}

forget_pages() { sync && echo 3 >/proc/sys/vm/drop_caches; }

# names_bad_block REPORT: one block is damaged, by an error of the member.
names_bad_block() {
  json_is "$(tail -n 1 <<<"$1")" "[.damaged[] | [.sequence, .kind]] == [[$BAD_BLOCK, \"io\"]]" "$2"
  [[ $1 == *"$MEMBER"*"Input/output error"* ]] || fail "$2 names neither member nor cause: $1"
}

bad_sector() {
  local name sector answer part lost
  head -c $((BLOCKS * BLOCK_BYTES)) /dev/urandom >"$WORK/source"
  name=$(tapectl_json record "$1/raw" --source "file:$WORK/source" | tail -n 1 | jq -r .recording)
  sector=$(sector_of "$BAD_BLOCK")
  fail_reads_at $((sector + 16))
  forget_pages
  rm -f "$WORK/copy"
  answer=$(timeout "$(slow 30)" "$TAPEDECK_BIN/tapectl" --output json play "$name" --sink "file:$WORK/copy" 2>&1) &&
    fail "$1: a bad sector played: $answer"
  expect_error_in "$answer" DATA_LOSS BLOCK_DAMAGED
  last_json_of "$answer"
  json_is "$LAST_JSON" '.lost_blocks == 1' "$1: playing over a bad sector"
  part=$(jq -r .error.metadata.path <<<"$LAST_JSON")
  # Of the block, the page with the bad sector is lost: 16 sectors after its begin.
  lost=$((BAD_BLOCK * BLOCK_BYTES + 8192))
  cmp -n "$lost" "$WORK/source" "$part" || fail "$1: wrong before the gap"
  cmp -n 4096 -i "0:$lost" /dev/zero "$part" || fail "$1: the gap is no zeros"
  cmp -i $((lost + 4096)) "$WORK/source" "$part" || fail "$1: wrong after the gap"
  forget_pages
  names_bad_block "$(tapectl_json recordings verify "$name" || true)" "$1: verify"
  sound
  tapectl play "$name" --sink "file:$WORK/copy" >/dev/null
  cmp "$WORK/source" "$WORK/copy" || fail "$1: not whole after the disk is sound again"
  echo "$1: a sector that cannot be read: 1 of $BLOCKS blocks is damaged, named, and lacks 4096 bytes; whole once it can be read"
}

# is_ahead LUN: the job's worker was told of some blocks.
# shellcheck disable=SC2016
is_ahead() { job '.state == "RUNNING" and (.recording | contains($channel)) and .blocks > 20' -e --arg channel "/$1/"; }

# job_is_over PID
job_is_over() { ! kill -0 "$1" 2>/dev/null; }

# remount KIND: as an operator would, after the disk was exchanged or its cable plugged in again.
remount() {
  stop_service "$STORAGE_PID"
  sound
  if [[ $1 != device ]]; then
    umount "$WORK/mnt"
    mount "$DEVICE" "$WORK/mnt"
  fi
  start_storage
}

# failing_disk KIND fail_writes|fail_all
failing_disk() {
  local acknowledged name report
  tapectl_json record "$1/synth" --source synth --duration 600s >"$WORK/job.json" 2>"$WORK/job.log" &
  JOB_PID=$!
  wait_for 30 is_ahead "$1" || fail "$1: the job did not get going: $(cat "$WORK/job.json")"
  "$2"
  wait_for 60 job_is_over "$JOB_PID" || fail "$1, $2: the job hangs: $(job)"
  end_job
  ((JOB_STATUS != 0)) || fail "$1, $2: recorded on a disk that fails: $ANSWER"
  # Where the look at the LUN finds it gone before a write fails, the job tries for 30 s to go on, and names the same cause.
  expect_error_in "$ANSWER" "INTERNAL|UNAVAILABLE" "STORE_IO|PEER_LOST"
  [[ $ANSWER == *"$MEMBER"* && $ANSWER =~ (Input/output error|Read-only file system) ]] ||
    fail "$1, $2: the error names neither member nor cause: $ANSWER"
  kill -0 "$STORAGE_PID" || fail "$1, $2: the storage node died"
  acknowledged=$(job .blocks)
  name=$(job .recording)
  remount "$1"
  wait_for 10 is_closed "$name" || fail "$1, $2: $name is not closed"
  json_is "$(tapectl_json recordings show "$name")" ".blocks >= $acknowledged" "$1, $2: $acknowledged were acknowledged"
  report=$(tapectl_json recordings verify "$name" || true)
  json_is "$(tail -n 1 <<<"$report")" \
    "[.damaged[]? | select(.sequence < $acknowledged or .kind != \"missing\")] == []" "$1, $2: verify"
  report=$(tapectl_json play "$name" --sink verify 2>&1 || true)
  [[ $report != *CONTENT_MISMATCH* ]] || fail "$1, $2: wrong bytes: $report"
  last_json_of "$report"
  json_is "$LAST_JSON" ".crc_errors == 0 and .blocks + .lost_blocks >= $acknowledged" "$1, $2: play"
  is_whole "$(tapectl_json record "$1/synth" --source synth --blocks 20 | tail -n 1)" "$1, $2: recording after that"
  echo "$1, $2: $(jq -r .error.message <<<"$ANSWER" | head -c 160); $acknowledged blocks acknowledged, 0 lost"
}

# end_disk: the next test in this machine finds neither the disk nor the slow address, however this one ended.
# shellcheck disable=SC2317
end_disk() {
  local status=$? pid
  if ((status != 0)); then
    for pid in "${SERVICE_PIDS[@]}"; do ! is_running "$pid" || say_where_threads_wait "$pid" || true; done >&2
  fi
  for pid in "${SERVICE_PIDS[@]}"; do stop_service "$pid"; done
  if mountpoint -q "$WORK/mnt"; then umount "$WORK/mnt" || umount -l "$WORK/mnt"; fi
  if [[ -e $DEVICE ]]; then dmsetup remove --force --retry failing || true; fi
  modprobe -r brd || true
  free_address
  (exit "$status") && true
  end_test
}

begin_test
trap end_disk EXIT
# A recording lasts longer than making its disk fail takes.
slow_address 127.0.0.2 16mbit
start_worker
begin_disk "$1"
begin_node "$1"
bad_sector "$1"
for fault in "${@:2}"; do failing_disk "$1" "$fault"; done
