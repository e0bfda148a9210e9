#!/usr/bin/env bash
# tapectl doctor on two machines of tests/lab, each with a clock of its own: the worker's is stepped by 3 s, which the doctor finds
# and tells by how much, within the uncertainty that it says; and put right, which it finds right.
set -Eeuo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lab/two_vms.sh"
BIN=${TAPEDECK_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/bin}
TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

doctor_fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  exit 1
}

# Sets SAID_DOCTOR; its exit status tells of findings.
ask_doctor() {
  SAID_DOCTOR=$(on b "$BIN/tapectl" --output json --storage 10.9.0.1:7401 --worker 10.9.0.2:7501 doctor) || true
  if [[ -z $SAID_DOCTOR ]] || ! jq -e .findings >/dev/null <<<"$SAID_DOCTOR"; then doctor_fail "no findings in: $SAID_DOCTOR"; fi
}

# says FILTER [JQ OPTION...]
says() { jq -e "${@:2}" "$1" >/dev/null <<<"$SAID_DOCTOR" || doctor_fail "not ($1) in $SAID_DOCTOR"; }

step_worker() { on b "$TESTS/e2e/step_clock.py" "$1"; }

# Steps the worker's clock by what the doctor says that it is wrong.
put_right() {
  ask_doctor
  step_worker "$(jq '-.clock.worker_ahead_ms / 1000' <<<"$SAID_DOCTOR")"
  ask_doctor
}

begin_vms --timeout 1200 --memory 1536
start_on a "$BIN/tapedeck-storage" --insecure --listen 0.0.0.0:7401 --state /tmp/doctor-state --follow-memory 0 --rail r0=verbs:10.0.0.1
DOCTOR_NODE=$JOB
start_on b "$BIN/tapedeck-worker" --insecure --listen 0.0.0.0:7501 --device host --rail r0=verbs:10.0.0.2
DOCTOR_WORKER=$JOB
guest a await_listener tcp 7401
guest b await_listener tcp 7501
# The machines began at different times, by clocks of whole seconds.
put_right
says 'all(.findings[]; .severity == "note" or .code == "PLAIN_TEXT")'
before=$(jq -c .clock <<<"$SAID_DOCTOR")
step_worker 3
ask_doctor
says 'any(.findings[]; .code == "CLOCKS_DIFFER" and .node == "pair" and .severity == "warning")'
stepped=$(jq -c .clock <<<"$SAID_DOCTOR")
step_worker -3
ask_doctor
# Give or take what the answers are unsure of, and what the clocks may run apart meanwhile.
# shellcheck disable=SC2016
says '.clock.worker_ahead_ms as $after | [$before.worker_ahead_ms, $after] |
  all($stepped.worker_ahead_ms - 3000 - . | fabs <= $stepped.uncertainty_ms + $before.uncertainty_ms + 20)' \
  --argjson before "$before" --argjson stepped "$stepped"
echo "stepped by 3 s: $stepped, before $before, after $(jq -c .clock <<<"$SAID_DOCTOR")"
put_right
says 'all(.findings[]; .code != "CLOCKS_DIFFER")'
stop_job "$DOCTOR_NODE"
stop_job "$DOCTOR_WORKER"
