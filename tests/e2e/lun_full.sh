#!/usr/bin/env bash
# Four recordings fill a LUN to its last block: all four end with an error that says what to do, everything they hold
# is durable and verifies, and there is room again once one is deleted. So with a capacity, on a full device, and on a full file system.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# are_closed LUN/CHANNEL: all that there still is. One that ended before its first block is taken away, and its job need not
# wait for that.
are_closed() { recordings_of "$1" | jq -se 'all(.state == "SEALED" or .state == "SALVAGED")'; }

# ends_full LUN/CHANNEL WHOLE: the answers of the four jobs, and recordings that hold every block (WHOLE, jq) or name
# those they lack.
ends_full() {
  local i name
  for i in 1 2 3 4; do
    expect_error_in "$(cat "$WORK/full-$i.json")" RESOURCE_EXHAUSTED LUN_FULL
    grep -q 'delete' "$WORK/full-$i.json" || fail "the error does not say what to do: $(cat "$WORK/full-$i.json")"
  done
  wait_for 10 are_closed "$1" || fail "not all are closed: $(recordings_of "$1")"
  json_is "$(recordings_of "$1" | jq -s .)" 'any(.durable_watermark > 0)' "$1"
  for name in $(recordings_of "$1" | jq -r .name); do
    json_is "$(tapectl_json recordings show "$name")" \
      ".state == \"SALVAGED\" and ($2)" "$name"
    json_is "$(tapectl_json recordings verify "$name" | tail -n 1)" '[(.damaged // [])[] | select(.kind != "missing")] == []' \
      "verify $name"
  done
}

recordings_of() { tapectl_json recordings list "$1" | jq -c '.recordings[]'; }

# fill LUN/CHANNEL: four recordings at once, until they end.
fill() {
  local i pids=() pid
  for i in 1 2 3 4; do
    tapectl_json record "$1" --source synth --slots 8 --duration 10000s >"$WORK/full-$i.json" 2>&1 &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do
    if wait "$pid"; then fail "a recording ended well on a LUN that is too small for it"; fi
  done
}

# with_capacity STORE BESIDE: as many blocks as fit beside the indexes and manifests of the recordings that began, which
# take BESIDE MiB in all: of a device LUN each index has 4.
with_capacity() {
  local blocks recordings fit
  CAPACITY=128MiB lun_with_channel "$1" "full-$1/c0" cf32_le 1MiB
  fill "full-$1/c0"
  ends_full "full-$1/c0" '.blocks == .durable_watermark and .missing_blocks == 0'
  wait_for 5 grep -q "LUN nearly full.* lun=luns/full-$1 " "$WORK/storage.log" || fail "no warning of a full LUN"
  blocks=$(recordings_of "full-$1/c0" | jq -s 'map(.blocks) | add')
  recordings=$(recordings_of "full-$1/c0" | jq -s length)
  fit=$((128 - ($2)))
  ((blocks == fit)) || fail "$blocks blocks of 1 MiB lie on a $1 LUN of 128 MiB in $recordings recordings, not $fit"
  tapectl recordings delete "$(recordings_of "full-$1/c0" | jq -rs 'max_by(.blocks).name')"
  tapectl record "full-$1/c0" --source synth --slots 8 --blocks 8 >/dev/null
  echo "$1 LUN of 128 MiB: $recordings recordings hold $blocks blocks, all durable"
}

# Where the last room goes to a block of a recording that began late, its first one may find none: it is said to be missing.
HOLDS_SOME='.durable_watermark > 0 or (.blocks > .missing_blocks and .missing_blocks > 0)'

full_device() {
  truncate -s 128M "$WORK/device"
  tapectl lun create device --store device --member "$WORK/device" >/dev/null
  tapectl channel create device/c0 --datatype cf32_le --block-bytes 1MiB --sample-rate 1e6 >/dev/null
  fill device/c0
  ends_full device/c0 "$HOLDS_SOME"
  echo "device LUN on a full device of 128 MiB: $(recordings_of device/c0 | jq -s 'map(.blocks) | add') blocks, all durable"
}

full_file_system() {
  mkdir "$WORK/small"
  mount -t tmpfs -o size=128m none "$WORK/small" 2>/dev/null || {
    echo "no tmpfs may be mounted here: a full file system was not tried"
    return
  }
  trap 'services_end_mounted' EXIT
  tapectl lun create small --store posix --member "$WORK/small" >/dev/null
  tapectl channel create small/c0 --datatype cf32_le --block-bytes 1MiB --sample-rate 1e6 >/dev/null
  larger_than_its_disk
  fill small/c0
  ends_full small/c0 "$HOLDS_SOME"
  echo "posix LUN on a full tmpfs: $(recordings_of small/c0 | jq -s 'map(.blocks) | add') blocks, all durable"
}

larger_than_its_disk() {
  local note="its capacity is 1.07 GB, and its file systems have 134.22 MB"
  tapectl lun update small --capacity 1GiB | grep -q "note: $note" || fail "lun update does not say it"
  tapectl lun list | grep -q "^small  $note" || fail "lun list does not say it: $(tapectl lun list)"
  tapectl_json record small/c0 --source synth --blocks 150 >"$WORK/refused.json" && fail "150 MiB fit 128 MiB"
  expect_error_in "$(cat "$WORK/refused.json")" RESOURCE_EXHAUSTED LUN_FULL
  grep -q "LUN larger than its disks.* channel=luns/small/channels/c0 " "$WORK/storage.log" || fail "no warning"
  [[ -z $(recordings_of small/c0) ]] || fail "a recording that was refused is there"
  tapectl lun update small --capacity 0 | grep note: && fail "it has no capacity any more"
  return 0
}

services_end_mounted() {
  local status=$?
  stop_service "$STORAGE_PID"
  umount "$WORK/small" || true
  (exit "$status")
  end_test
}

begin_test
start_storage
start_worker
with_capacity posix 1
with_capacity direct 1
with_capacity device "4 * recordings"
full_device
full_file_system
