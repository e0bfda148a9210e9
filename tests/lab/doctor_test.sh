#!/usr/bin/env bash
# Runs in the virtual machine: tapectl doctor finds nothing wrong with healthy RDMA rails, and each of the faults that need
# some. The others are tests/e2e/doctor.sh's.
#   doctor_test.sh ports|memlock
# shellcheck disable=SC2119
export TAPEDECK_RAILS="r0=verbs:10.0.0.1 r1=verbs:10.0.1.1"
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/e2e/doctor_lib.sh
source "$TAPEDECK_ROOT/tests/e2e/doctor_lib.sh"
# shellcheck source=tests/lab/guest.sh
source "$TAPEDECK_ROOT/tests/lab/guest.sh"

ports() {
  is_healthy
  json_is "$ANSWER" 'all(.nodes[].rails[]; .path_mtu_bytes == 4096)' "path MTUs"
  set_mtu 1 1500
  finds PATH_MTU_SMALL warning storage
  json_is "$ANSWER" '.nodes[0].rails[1].path_mtu_bytes == 1024' "path MTU of a port of 1500 bytes"
  set_mtu 1 4200
  port_down 1
  finds PORT_DOWN error worker
  port_up 1
  await_state 1 ACTIVE
  is_healthy
  ip address add 10.7.1.1/24 dev p1
  WORKER_RAILS=(--rail r0=verbs:10.0.0.1 --rail r1=verbs:10.7.1.1)
  stop_service "$WORKER_PID"
  start_worker
  finds RAIL_SUBNETS_DIFFER warning pair
  ip address del 10.7.1.1/24 dev p1
  finds NO_ROCE_V2_GID error worker
}

# Without CAP_IPC_LOCK, and with a limit of 64 KiB.
memlock() {
  finds MEMLOCK_TOO_LOW error storage
  [[ $ANSWER == *"bytes must be locked and the limit of locked memory is 65536 bytes"* ]] || fail "not the sentence: $ANSWER"
}

begin_test
WORKER_DEVICE=host
start_storage
start_worker
"$1"
