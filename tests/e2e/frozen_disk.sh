# shellcheck shell=bash
# Sourced where a LUN's disk shall not answer any more: a file system of its own at WORK/disk, which is frozen, and a crowd
# of callers that want it.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
CROWD=()

# begin_disk: after begin_test. However the test ends, the disk is thawed and gone.
begin_disk() {
  trap end_disk EXIT
  make_disk
}

# make_disk: mounts a file system of its own at WORK/disk.
make_disk() {
  [[ $EUID == 0 ]] || skip "only root can mount and freeze a file system"
  need fsfreeze
  truncate -s 256M "$WORK/image"
  mkfs.ext4 -q "$WORK/image" && mkdir "$WORK/disk"
  mount -o loop "$WORK/image" "$WORK/disk" 2>/dev/null || skip "no loop device can be mounted here"
}

freeze() { fsfreeze -f "$WORK/disk"; }
thaw() { fsfreeze -u "$WORK/disk"; }

# is_over PID: it has ended, but for threads that the kernel does not let go of before the disk answers.
is_over() { [[ ! -e /proc/$1 ]] || grep -q '^State:.*Z' "/proc/$1/status"; }

# ends_in_time LEFT: the storage node, while the disk is frozen. Its log names what it did not wait for, a regular expression. Then
# the disk thaws.
ends_in_time() {
  local began took
  began=$(milliseconds)
  kill -TERM "$STORAGE_PID"
  wait_for 15 is_over "$STORAGE_PID" || fail "the node has not ended"
  took=$(($(milliseconds) - began))
  ((took <= $(slow 10500))) || fail "the node took $took ms to end"
  grep -q "msg=\"ended without waiting any longer\" left=.*$1" "$WORK/storage.log" || fail "the log does not name what was left"
  echo "a stop request ended the node in $took ms"
  thaw
  wait_for 10 eval "! kill -0 $STORAGE_PID" || fail "the node is still there after the disk has thawed"
}

# shellcheck disable=SC2317
end_disk() {
  local status=$?
  thaw 2>/dev/null || true
  services_end_but_work
  ! mountpoint -q "$WORK/disk" || umount -l "$WORK/disk"
  (exit "$status") && true
  end_test
}

services_end_but_work() {
  local pid
  for pid in "${SERVICE_PIDS[@]}"; do stop_service "$pid"; done
  for pid in $(jobs -rp); do kill "$pid" 2>/dev/null || true; done
}

# crowd: eight sessions and four other calls that all want the frozen disk.
crowd() {
  local i
  for i in 1 2 3 4; do
    tapectl_json record frozen/c0 --source synth --blocks 5 >"$WORK/crowd.$i" 2>&1 &
    CROWD+=($!)
    tapectl_json play "$OLD" --sink verify >"$WORK/crowd.play.$i" 2>&1 &
    CROWD+=($!)
    tapectl --timeout 60s channel create "frozen/n$i" --datatype cf32_le --block-bytes 1MiB --sample-rate 1e6 >/dev/null 2>&1 &
    CROWD+=($!)
  done
}

# job_of LUN: the newest job that records into it.
job_of() { tapectl_json jobs list | jq -c --arg lun "/$1/" '[.jobs[] | select(.recording | contains($lun))][0] // {blocks: 0}'; }
