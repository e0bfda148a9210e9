#!/usr/bin/env bash
# Runs in the virtual machine: what befalls RDMA rails is named where it shows, and costs no block that another rail
# can carry.   verbs_test.sh port_out|both_ports_out|device_gone|memlock|mtu|no_device
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

# time_of_line FILE PATTERN: of its first line, in ms.
time_of_line() {
  local stamp
  stamp=$(grep -m 1 "$2" "$WORK/$1.log" | sed 's/^ts=\([^ ]*\).*/\1/')
  [[ -n $stamp ]] || fail "$1 has no line $2"
  date -d "$stamp" +%s%3N
}

# Recording and playing go on over r0 at once, and r1 carries blocks again once its port is back.
port_out() {
  local recording carried
  services
  start_job record v/c0 --source synth --blocks "$BLOCKS"
  port_down 1
  sleep 2
  port_up 1
  end_job
  ((JOB_STATUS == 0)) || fail "recording: $ANSWER"
  json_is "$ANSWER" ".blocks == $BLOCKS and .lost_blocks == 0 and .crc_errors == 0 and all(.rails[]; .up)" "recording"
  recording=$(jq -r .recording <<<"$ANSWER")
  took=$(($(time_of_line storage 'msg="rail down" rail=r1') - $(time_of_line storage 'event="port error"')))
  echo "the port's event reached the session in $took ms"
  ((took <= 1000)) || fail "blocks of r1 were stuck for $took ms"
  carried=$(jq '.rails[] | select(.name == "r1") | .blocks' <<<"$ANSWER")
  logged worker "port down: rx1 port 1 is down; check its cable, its switch and: rdma link"
  start_job play "$recording" --sink verify
  port_down 1
  sleep 2
  port_up 1
  end_job
  ((JOB_STATUS == 0)) || fail "playing: $ANSWER"
  json_is "$ANSWER" ".blocks == $BLOCKS and .lost_blocks == 0 and .crc_errors == 0 and all(.rails[]; .up)" "playing"
  echo "of $BLOCKS blocks r1 carried $carried recorded, $(jq '.rails[] | select(.name == "r1") | .blocks' <<<"$ANSWER") played"
}

# With no rail left the session ends after its grace of 10 s, says why, and keeps what was acknowledged.
both_ports_out() {
  local recording
  services
  start_job record v/c0 --source synth --duration 60s
  recording=$(newest_recording)
  port_down 0
  port_down 1
  started=$(milliseconds)
  end_job
  echo "ended after $(($(milliseconds) - started)) ms"
  (($(milliseconds) - started < 20000)) || fail "the job outlived its grace period"
  expect_error_in "$ANSWER" UNAVAILABLE ALL_RAILS_DOWN
  [[ $ANSWER == *"port down: rx0 port 1 is down"* ]] || fail "the cause is not named: $ANSWER"
  port_up 0
  port_up 1
  wait_for 5 is_closed "$recording" || fail "not closed: $(tapectl_json recordings show "$recording")"
  tapectl recordings verify "$recording" >/dev/null
  is_whole "$(tapectl_json play "$recording" --sink verify)" "playing what was recorded"
}

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
