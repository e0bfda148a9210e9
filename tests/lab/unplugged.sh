#!/usr/bin/env bash
# Runs in the virtual machine: a disk of the kernel's scsi_debug is deleted while a session records on it, and found again under
# another name, to which the link that the LUN was made with is set, as udev does. Within seconds the session has ended with
# STORE_IO and the LUN is OFFLINE; back, it is READY by itself, what was acknowledged plays, and it records again.
export TAPEDECK_RAILS="r0=tcp:127.0.0.2"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/lab/guest.sh
source "$TAPEDECK_ROOT/tests/lab/guest.sh"

LINK=/dev/deck

# disk: the name of scsi_debug's only disk; fails while there is none.
disk() { ls "$HOST"/target*/*/block 2>/dev/null; }

link_disk() { ln -sfn "/dev/$(disk)" "$LINK"; }

is_lun() { tapectl_json lun list | jq -e --arg state "$1" '.luns[0].state == $state'; }

is_ahead() { job '.state == "RUNNING" and .blocks > 20' -e; }

# shellcheck disable=SC2317
end_unplugged() {
  local status=$? pid
  for pid in "${SERVICE_PIDS[@]}"; do stop_service "$pid"; done
  modprobe -r scsi_debug || true
  free_address
  (exit "$status") && true
  end_test
}

begin_test
trap end_unplugged EXIT
modprobe sd_mod
modprobe scsi_debug dev_size_mb=192 delay=0
HOST=$(dirname "$(find /sys/bus/pseudo/devices/adapter0/ -name 'target*' | head -n 1)")
wait_for 10 disk || fail "scsi_debug has no disk"
link_disk
slow_address 127.0.0.2 16mbit
start_worker
start_storage
tapectl lun create l0 --store device --member "$LINK" >/dev/null
tapectl channel create l0/c0 --datatype cf32_le --block-bytes 65536 --sample-rate 1e6 >/dev/null
tapectl_json record l0/c0 --source synth --duration 600s >"$WORK/job.json" 2>"$WORK/job.log" &
JOB_PID=$!
wait_for 30 is_ahead || fail "the job does not get going: $(cat "$WORK/job.json")"
echo 1 >"$(echo "$HOST"/target*/*/delete)"
rm "$LINK"
end_job
expect_error_in "$ANSWER" INTERNAL STORE_IO
[[ $ANSWER == *"$LINK"* ]] || fail "the error does not name the member: $ANSWER"
wait_for 10 is_lun OFFLINE || fail "not offline: $(tapectl_json lun list)"
name=$(job .recording) acknowledged=$(job .blocks)
echo "unplugged: $(tapectl_json lun list | jq -r '.luns[0].cause')"
echo "- - -" >"$(echo "$HOST"/scsi_host/host*/scan)"
wait_for 10 disk || fail "it is not found again"
link_disk
wait_for 20 is_lun READY || fail "not back: $(tapectl_json lun list)"
json_is "$(tapectl_json recordings show "$name")" ".state == \"SALVAGED\" and .blocks >= $acknowledged" "$acknowledged were acknowledged"
is_salvaged "$name" "$acknowledged" "what was recorded before"
is_whole "$(tapectl_json record l0/c0 --source synth --blocks 20 | tail -n 1)" "recording after that"
echo "plugged in again as $(disk): $acknowledged blocks acknowledged, 0 lost"
