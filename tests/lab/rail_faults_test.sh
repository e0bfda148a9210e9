#!/usr/bin/env bash
# Runs in the virtual machine: what can be wrong with RDMA rails from the start, and a device that is pulled out, are
# told in the documented sentences. Ports that go down and come back are the matter of tests/e2e/ports_down.sh.
#   rail_faults_test.sh device_gone|memlock|mtu|no_device
export TAPEDECK_RAILS="r0=verbs:10.0.0.1 r1=verbs:10.0.1.1"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/lab/guest.sh
source "$TAPEDECK_ROOT/tests/lab/guest.sh"

services() {
  start_storage
  start_worker
}

channel() { CAPACITY=64MiB lun_with_channel memory v/c0 cf32_le 1MiB; }

# logged FILE TEXT [WHAT]: the text is in the log of the storage node or the worker.
logged() { grep -qF "$2" "$WORK/$1.log" || fail "$1 does not say: $2"; }

has_moved() { (($(job .blocks) >= $1)); }

# A device that is pulled out ends its rail, not the session: an endless recording goes on, until it is cancelled.
device_gone() {
  local said="device gone: rx1 was removed or has failed; once it is back, restart this service to use the rail again"
  local recordings
  services
  mkdir "$WORK/member"
  tapectl lun create v --store posix --member "$WORK/member" --capacity 256MiB --full-policy ring >/dev/null
  tapectl channel create v/c0 --block-bytes 1MiB --segment 32MiB >/dev/null
  start_job record v/c0 --source synth --duration 600s
  remove_port 1
  wait_for 20 grep -qF "$said" "$WORK/worker.log" || fail "the worker does not say: $said"
  wait_for 30 has_moved $(($(job .blocks) + 64)) || fail "nothing moves any more: $(job)"
  tapectl jobs cancel "$(job .name)" >/dev/null
  end_job
  expect_error_in "$ANSWER" CANCELLED JOB_CANCELLED
  is_whole "$ANSWER" "recording while a device goes"
  recordings=$(tapectl_json recordings list --segments v/c0 | jq -c .recordings)
  json_is "$recordings" 'length >= 2 and all(.[]; .state == "SEALED" and .missing_blocks == 0)' "what was recorded"
  tapectl_json recordings verify v/c0/latest >"$WORK/verify.log" || fail "the end of the recording: $(cat "$WORK/verify.log")"
}

# Without CAP_IPC_LOCK, and with a limit of 64 KiB.
memlock() {
  services
  channel
  answer=$(tapectl_json record v/c0 --source synth --blocks 10 2>&1) && fail "recorded: $answer"
  expect_error_in "$answer" RESOURCE_EXHAUSTED MEMLOCK_TOO_LOW
  [[ $answer == *"bytes must be locked and the limit of locked memory is 65536 bytes; set LimitMEMLOCK=infinity"* ]] ||
    fail "not the sentence: $answer"
}

# With ports of 1500 bytes.
mtu() {
  services
  channel
  is_whole "$(tapectl_json record v/c0 --source synth --blocks 20)" "recording at path MTU 1024"
  logged worker "path MTU 1024 carries 5.6 % less than 4096; set the MTU of both ports and of the switch to 4200 or more"
}

# In a machine with --no-rdma: verbs is refused, auto takes TCP and says so.
no_device() {
  local text status=0
  text=$("$TAPEDECK_BIN/tapedeck-storage" --listen "127.0.0.1:$(free_port)" --state "$WORK/other" \
    --rail r0=verbs:10.0.0.1 2>&1) || status=$?
  ((status == 1 || status == 2)) || fail "a verbs rail without a device: exit status $status: $text"
  [[ $text == *"no RDMA device"* ]] || fail "not the sentence: $text"
  STORAGE_RAILS=(--rail r0=auto:10.0.0.1)
  # shellcheck disable=SC2034
  WORKER_RAILS=("${STORAGE_RAILS[@]}")
  services
  channel
  is_whole "$(tapectl_json record v/c0 --source synth --blocks 20)" "recording over TCP"
  logged worker "auto: this rail uses TCP"
  logged worker "transport=tcp"
}

begin_test
"$1"
