#!/usr/bin/env bash
# A storage node and a worker on two machines of tests/lab, whose packets really travel: records and plays back; then
# the node's power is cut mid-record, the worker says so in 10 s, and the node, once back, plays what was durable; then
# the worker's power is cut, and the node seals what it has.
set -Eeuo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lab/two_vms.sh"
BIN=${TAPEDECK_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/bin}
BLOCKS=$([[ -n ${TAPEDECK_LONG:-} ]] && echo 32 || echo 16)

fail() {
  echo "FAILED at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
  tail -qn 20 "${NODE:-/dev/null}/stderr" "${WORKER:-/dev/null}/stderr" >&2 || true
  exit 1
}

# The node keeps its recordings on a disk of its own, which outlives its power.
start_node() {
  on a bash -c 'mkdir -p /disk && mount -t ext4 /dev/vda /disk' || fail "the node's disk"
  start_on a "$BIN/tapedeck-storage" --insecure --listen 0.0.0.0:7400 --state /disk/state \
    --rail r0=verbs:10.0.0.1 --rail r1=verbs:10.0.1.1
  NODE=$JOB
  guest a await_listener tcp 7400
}

start_worker() {
  start_on b "$BIN/tapedeck-worker" --insecure --listen 0.0.0.0:7500 --device host \
    --rail r0=verbs:10.0.0.2 --rail r1=verbs:10.0.1.2
  WORKER=$JOB
  guest b await_listener tcp 7500
}

# From the machine that stays: its services are reached over the control network.
ctl_on() { on "$1" "$BIN/tapectl" --output json --storage 10.9.0.1:7400 --worker 10.9.0.2:7500 "${@:2}"; }

is_true() { if [[ -z $1 ]] || ! jq -e "$2" >/dev/null <<<"$1"; then fail "$3: not ($2) in $1"; fi; }

state_of() { ctl_on "$1" recordings show "$2" | jq -r .state; }

# wait_closed VM RECORDING: until it is sealed or salvaged, 15 s at most, times SLOWNESS.
wait_closed() {
  local from=$SECONDS
  until [[ $(state_of "$@") =~ SEALED|SALVAGED ]]; do
    ((SECONDS - from < 15 * SLOWNESS)) || fail "the recording is $(state_of "$@")"
  done
}

# start_endless: b records until something happens; RECORDER is the job, RECORDING what it makes.
start_endless() {
  start_on b "$BIN/tapectl" --output json --storage 10.9.0.1:7400 --worker 10.9.0.2:7500 \
    record l0/c0 --source synth --duration 600s --resume-for 0s
  RECORDER=$JOB
  local from=$SECONDS
  until SEEN=$(ctl_on b jobs list | jq '.jobs[0] | if .state == "RUNNING" then .blocks else 0 end') && ((SEEN > 8)); do
    ((SECONDS - from < 40 * SLOWNESS)) || fail "the recording did not get going: $(cat "$RECORDER"/std*)"
  done
  RECORDING=$(ctl_on b recordings list | jq -r '.recordings[0].name')
}

VM_DISK[a]=2G
begin_vms --timeout 1200 --memory 1536
on a mkfs.ext4 -q /dev/vda
start_node
start_worker
on a mkdir /disk/member
ctl_on b lun create l0 --store posix --member /disk/member --capacity 1GiB >/dev/null
ctl_on b channel create l0/c0 --block-bytes 1MiB --datatype cf32_le --sample-rate 1e6 >/dev/null
answer=$(ctl_on b record l0/c0 --source synth --blocks "$BLOCKS")
is_true "$answer" ".blocks == $BLOCKS and .lost_blocks == 0 and .crc_errors == 0 and all(.rails[]; .blocks > 0)" recording
echo "recorded: $(jq -c '{blocks, mb_per_s, rails}' <<<"$answer")"
answer=$(ctl_on b play "$(jq -r .recording <<<"$answer")" --sink verify)
is_true "$answer" ".blocks == $BLOCKS and .lost_blocks == 0 and .crc_errors == 0" playing
echo "played: $(jq -c '{blocks, mb_per_s, rails}' <<<"$answer")"

start_endless
vm_cut a
from=$SECONDS status=0
end_of "$RECORDER" 15 || status=$?
((status != 0 && status != 124)) || fail "$((15 * SLOWNESS)) s after the node's power went: status $status, $(cat "$RECORDER"/std*)"
((SECONDS - from <= 10 * SLOWNESS)) || fail "the worker needed $((SECONDS - from)) s"
echo "node's power cut: $((SECONDS - from)) s later: $(jq -c .error "$RECORDER/stdout")"
vm_boot a
start_node
wait_closed b "$RECORDING"
is_true "$(ctl_on b recordings show "$RECORDING")" ".durable_watermark >= $SEEN" "what was acknowledged"
ctl_on b recordings verify "$RECORDING" >/dev/null || fail "the salvaged recording does not verify"

start_endless
vm_cut b
from=$SECONDS
wait_closed a "$RECORDING"
echo "worker's power cut: sealed after $((SECONDS - from)) s"
is_true "$(ctl_on a recordings show "$RECORDING")" ".blocks >= $SEEN" "what was acknowledged"
ctl_on a recordings verify "$RECORDING" >/dev/null || fail "the sealed recording does not verify"
