#!/usr/bin/env bash
# Runs in the virtual machine: what can be wrong with RDMA rails from the start, and a device that is pulled out, are
# told in the documented sentences. Ports that go down and come back are the matter of tests/e2e/ports_down.sh.
#   rail_faults_test.sh device_gone|memlock|mtu|no_device
export TAPEDECK_RAILS="r0=verbs:10.0.0.1 r1=verbs:10.0.1.1"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/lab/guest.sh
source "$TAPEDECK_ROOT/tests/lab/guest.sh"

BLOCKS=300

services() {
  start_storage
  start_worker
  CAPACITY=400MiB lun_with_channel memory v/c0 cf32_le 1MiB
}

# logged FILE TEXT [WHAT]: the text is in the log of the storage node or the worker.
logged() { grep -qF "$2" "$WORK/$1.log" || fail "$1 does not say: $2"; }

# A device that is pulled out ends its rail, not the session.
device_gone() {
  services
  start_job record v/c0 --source synth --blocks "$BLOCKS"
  remove_port 1
  end_job
  ((JOB_STATUS == 0)) || fail "recording: $ANSWER"
  is_whole "$ANSWER" "recording while a device goes"
  logged worker "device gone: rx1 was removed or has failed; once it is back, restart this service to use the rail again"
}

# Machine with --memlock 64.
memlock() {
  services
  answer=$(tapectl_json record v/c0 --source synth --blocks 10 2>&1) && fail "recorded: $answer"
  expect_error_in "$answer" RESOURCE_EXHAUSTED MEMLOCK_TOO_LOW
  [[ $answer == *"bytes must be locked and the limit of locked memory is 65536 bytes; set LimitMEMLOCK=infinity"* ]] ||
    fail "not the sentence: $answer"
}

# Machine with --mtu 1500.
mtu() {
  services
  is_whole "$(tapectl_json record v/c0 --source synth --blocks 20)" "recording at path MTU 1024"
  logged worker "path MTU 1024 carries 5.6 % less than 4096; set the MTU of both ports and of the switch to 4200 or more"
}

# Machine with --no-rdma: verbs is refused, auto takes TCP and says so.
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
  is_whole "$(tapectl_json record v/c0 --source synth --blocks 20)" "recording over TCP"
  logged worker "auto: this rail uses TCP"
  logged worker "transport=tcp"
}

begin_test
"$1"
