#!/usr/bin/env bash
# What the pod of `helm test` runs, as it runs there, moves data between two services, leaves nothing behind, and fails where the
# worker is away; and a kubelet that asks a storage node beside it hears of a drain before anything ends.
TAPEDECK_RAILS="r0=tcp:%lo r1=tcp:127.0.0.2" # as the chart names its rails: by an interface
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/admin.sh"

SCRIPT=$TAPEDECK_ROOT/helm/tapedeck/files/record_and_play.sh

# in_pod [NAME=VALUE...]: with what the pod has in its environment, and sh instead of bash.
in_pod() {
  env -i PATH="$TAPEDECK_BIN:/usr/bin:/bin" TAPEDECK_STORAGE="$TAPEDECK_STORAGE" TAPEDECK_WORKER="$TAPEDECK_WORKER" \
    TEST_MEBIBYTES=32 TEST_LUN= "$@" sh "$SCRIPT" --timeout 60s >"$WORK/answer.txt" 2>&1
}

leaves() {
  local luns
  luns=$(tapectl_json lun list | jq -c '[.luns[].name]')
  [[ $luns == "$1" ]] || fail "it leaves the LUNs $luns"
}

passes() {
  in_pod || fail "it fails: $(cat "$WORK/answer.txt")"
  grep -q '^== passed' "$WORK/answer.txt" || fail "it does not say so: $(cat "$WORK/answer.txt")"
  leaves '[]'
}

uses_a_lun_that_is_there() {
  local recording
  lun_with_channel posix l0/c0 cf32_le 64KiB
  recording=$(tapectl_json record l0/c0 --source synth --blocks 32 | jq -r .recording)
  in_pod TEST_LUN=l0 || fail "it fails in l0: $(cat "$WORK/answer.txt")"
  [[ $(tapectl_json channel list | jq -c '[.channels[].name]') == '["luns/l0/channels/c0"]' ]] || fail "it leaves a channel, or takes one"
  is_whole "$(tapectl_json play "$recording" --sink verify)" "what was there before"
}

fails_without_a_worker() {
  stop_service "$WORKER_PID"
  ! in_pod || fail "it passes without a worker: $(cat "$WORK/answer.txt")"
  grep -q NODE_UNREACHABLE "$WORK/answer.txt" || fail "it does not say why: $(cat "$WORK/answer.txt")"
  leaves '["luns/l0"]'
  start_worker
}

# kubelet PATH: the status that its probe gets, over plain HTTP; 000 of a port that is closed.
kubelet() { curl -s -o /dev/null -m 5 -w '%{http_code}' "http://127.0.0.1:$STORAGE_ADMIN$1" || true; }

gets() { [[ $(kubelet "$1") == "$2" ]]; }

# A pod that is deleted: SIGTERM, readiness false, sessions sealed, the end; its successor has every block that was acknowledged.
a_drained_node_loses_nothing() {
  local recording acknowledged
  { gets /readyz 200 && gets /healthz 200; } || fail "a node that runs is not ready"
  start_job record l0/c0 --source synth --duration 60s
  recording=$(newest_recording)
  kill -TERM "$STORAGE_PID"
  wait_for 4 gets /readyz 503 || fail "a node that drains is still ready: $(kubelet /readyz)"
  gets /healthz 200 || fail "a kubelet would kill a node that drains: $(kubelet /healthz)"
  end_job
  wait_for 15 eval "! is_running $STORAGE_PID" || fail "the node outlasts the time that the chart gives it"
  acknowledged=$(jq '.blocks // 0' <<<"$ANSWER")
  ((acknowledged > 0)) || acknowledged=$(job .blocks)
  start_storage
  wait_for 10 gets /readyz 200 || fail "the successor does not get ready"
  is_closed "$recording" >/dev/null || fail "the recording is open"
  is_salvaged "$recording" "$acknowledged" "the drained recording"
  echo "$acknowledged blocks were acknowledged before the drain, and all are there"
}

begin_test
with_admin_ports
passes
uses_a_lun_that_is_there
fails_without_a_worker
a_drained_node_loses_nothing
