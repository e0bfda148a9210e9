#!/usr/bin/env bash
# A policy that moves recordings to a LUN whose disk does not answer any more (a frozen file system): it is given up with its
# reason, another policy goes on, a stop request ends the node in time and names the move, and once the disk answers all is moved.
source "$(dirname "${BASH_SOURCE[0]}")/frozen_disk.sh"

# make_lun NAME MEMBER
make_lun() { tapectl lun create "$1" --store posix --member "$2" >/dev/null; }

# record_into LUN: RECORDED is the recording's name.
record_into() { RECORDED=$(tapectl_json record "$1/c" --source synth --blocks 20 | tail -n 1 | jq -r .recording); }

# are_in LUN COUNT
are_in() { [[ $(tapectl_json recordings list "$1/c" 2>/dev/null | jq '[.recordings[] | select(.state == "SEALED")] | length') == "$2" ]]; }

is_given_up() { grep -q 'msg="recording not moved".*reason=LUN_NOT_RESPONDING' "$WORK/storage.log"; }

begin_test
begin_disk
mkdir "$WORK/first" "$WORK/second" "$WORK/good" "$WORK/disk/member"
WORKER_DEVICE=host
start_storage
start_worker
make_lun first "$WORK/first"
make_lun second "$WORK/second"
make_lun good "$WORK/good"
make_lun frozen "$WORK/disk/member"
for lun in first second; do
  tapectl channel create "$lun/c" --datatype cf32_le --block-bytes 64KiB --sample-rate 1e6 >/dev/null
done
record_into first
stands=$RECORDED
record_into second
freeze
tapectl channel update first/c --move-to frozen --after 1s >/dev/null
wait_for 30 is_given_up || fail "the log does not say that the move was given up"
tapectl channel update second/c --move-to good --after 1s >/dev/null
wait_for 20 are_in good 1 || fail "another policy is held up"
[[ $(tapectl_json recordings show "$stands" | jq -r .state) == SEALED ]] || fail "what stands still is no longer there"
echo "a move to a frozen disk was given up, and another policy went on"

ends_in_time "moves: $stands"
start_storage
wait_for 30 are_in frozen 1 || fail "it was not moved once the disk answered"
wait_for 10 are_in first 0 || fail "it is still where it was"
