#!/usr/bin/env bash
# Runs in the virtual machine, for log_writes.sh: a storage node on the file system FS, or on the device itself, of
# DISK, whose every write dm-log-writes keeps on LOG. It records SOURCES, seals, deletes, is killed, recovers, and leaves a
# recording open; marks in the log say what it had acknowledged (ledger.h). WORK and RESULTS are folders of this log alone.
set -Eeuo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export TAPEDECK_RAILS="r0=tcp:127.0.0.2" DM_DISABLE_UDEV=1
# shellcheck source=deploy/services.sh
source "$HERE/../../../deploy/services.sh"
# shellcheck source=tests/lab/guest.sh
source "$HERE/../guest.sh"
# fail WHY LINE: says so, with the ends of what all programs have said.
fail() {
  echo "FAILED at ${BASH_SOURCE[0]##*/}:$2: $1, called at ${BASH_LINENO[*]}" >&2
  tail -n 20 "$WORK"/*.{log,out} >&2
  exit 1
}
trap 'fail "$BASH_COMMAND" $LINENO' ERR
trap 'fail "the time is up in: $BASH_COMMAND" $LINENO' TERM

mark() { dmsetup message log 0 mark "$1"; }

# begin_log: sets MEMBER and makes WORK/state the state directory.
begin_log() {
  modprobe -a dm-log-writes
  dmsetup create log --table "0 $(blockdev --getsz "$DISK") log-writes $DISK $LOG"
  rm -rf "$PLACE"
  mkdir -p "$PLACE/mnt" "$WORK"
  case $FS in
    ext4) mkfs.ext4 -q -J size=4 -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/log ;;
    xfs) mkfs.xfs -q /dev/mapper/log ;;
    raw)
      MEMBER=$PLACE/device
      read -r major minor < <(stat -Lc '0x%t 0x%T' /dev/mapper/log)
      mknod "$MEMBER" b "$major" "$minor"
      return
      ;;
  esac
  MEMBER=$PLACE/mnt/member
  mount -t "$FS" /dev/mapper/log "$PLACE/mnt"
  mkdir "$MEMBER" "$PLACE/mnt/state"
  ln -s "$PLACE/mnt/state" "$WORK/state"
  sync -f "$PLACE/mnt"
  mark begin
}

# record CHANNEL SOURCE: in the background; adds to JOBS.
record() {
  "$TAPEDECK_BIN/tapectl" record "l/$1" --source "file:$SOURCES/$2" >"$WORK/$2.out" 2>&1 &
  JOBS+=($!)
}

# end_jobs: fails if one of them did.
end_jobs() {
  local job failed=0
  for job in "${JOBS[@]}"; do wait "$job" || failed=1; done
  JOBS=()
  return "$failed"
}

# newest CHANNEL: the name of its newest recording.
newest() { tapectl_json recordings list | jq -r "[.recordings[].name | select(contains(\"/$1/\"))][0] // empty"; }

# is_recording CHANNEL: by the last mark of it, a recording is under way there and has some durable blocks.
is_recording() { grep "/$1/" "$WORK/marks" | tail -n 1 | grep -q ":RECORDING:[0-9]*:\([5-9]\|..\)"; }

# await_recording CHANNEL: the rail is so slow meanwhile that the recording outlasts any look at it.
await_recording() {
  shape_address change "$SLOW_RATE"
  wait_for 60 is_recording "$1"
}

# kill_within CHANNEL SOURCE: kills node and worker in the middle of recording.
kill_within() {
  record "$1" "$2"
  await_recording "$1"
  kill -KILL "$STORAGE_PID" "$WORKER_PID"
  wait "$STORAGE_PID" "$WORKER_PID" 2>/dev/null || true
  shape_address change "$RATE"
  ! end_jobs || { echo "the recording of $2 had ended before the node was killed" >&2 && exit 1; }
}

delete() {
  mark "deleting:$1"
  tapectl recordings delete "$1" >/dev/null
  mark "deleted:$1"
}

scenario() {
  local JOBS=() first
  record c0 s0
  end_jobs
  first=$(newest c0)
  record c0 s1
  record c1 s2
  await_recording c0
  delete "$first"
  shape_address change "$RATE"
  end_jobs
  kill_within c1 s3
  start_storage
  start_worker
  record c0 s4
  end_jobs
  kill_within c1 s5
}

# end_log: nobody closes what is open. Without its target the log is whole.
end_log() {
  kill "$NOTARY_PID"
  wait "$NOTARY_PID" 2>/dev/null || true
  [[ $FS == raw ]] || umount "$PLACE/mnt"
  dmsetup remove --retry log
  [[ $FS != raw ]] || cp -r "$WORK/state/luns" "$RESULTS/"
}

RATE=32mbit SLOW_RATE=1500kbit
begin_log
slow_address 127.0.0.2 "$RATE"
start_storage
start_worker
tapectl lun create l --store "$KIND" --member "$MEMBER" --capacity 200MiB >/dev/null
for channel in c0 c1; do
  tapectl channel create "l/$channel" --datatype cu8 --block-bytes 64KiB --sample-rate 1e6 --commit durable >/dev/null
done
[[ $FS != raw ]] || mark begin
"$TAPEDECK_BIN/tapedeck-log-notary" "$TAPEDECK_STORAGE" log >"$WORK/marks" 2>"$WORK/notary.log" &
NOTARY_PID=$!
scenario
end_log
