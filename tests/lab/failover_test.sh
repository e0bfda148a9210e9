#!/usr/bin/env bash
# A pair of storage nodes with the same options (--standby-for) on a real Ceph cluster (rados.sh), and a worker that goes on at the one
# that took the LUN over. What a device sends meanwhile is in one recording, to the sample; where the worker's ring is too small
# for a take-over, what is missing is named to the sample. A node that was stopped and goes on after another has its LUN
# writes nothing any more.
# With TAPEDECK_CEPH_CONF it uses the cluster that is there.
#   failover_test.sh [TAKE_OVERS]   how often the node that has the LUN is killed under one recording: 2 unless told, and with
#                                   TAPEDECK_LONG 100, where nodes are also stopped beside a ring with room, 10 times
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/e2e/ingest_lib.sh
source "$TAPEDECK_ROOT/tests/e2e/ingest_lib.sh"

CLUSTER=$TAPEDECK_ROOT/tests/lab/rados.sh
LONG=${TAPEDECK_LONG:-}
TAKE_OVERS=${1:-${LONG:+100}} STOPS=${STOPS:-${LONG:+10}}
MEMBER=rados:tape/pair-$$ CHANNEL=deep/c0
SAMPLE_BYTES=8 BLOCK_SAMPLES=32768 # of 256 KiB
LEASE_S=5
PORTS=() PIDS=()

# shellcheck disable=SC2317
end_cluster() {
  local status=$?
  ((status == 0)) || for pid in "${PIDS[@]}"; do kill -CONT "$pid" 2>/dev/null || true; done
  if [[ -n $CLUSTER_DIR ]]; then
    "$CLUSTER" stop "$CLUSTER_DIR" || true
    rm -rf "$CLUSTER_DIR"
  fi
  (exit "$status") && true
  end_test
}

# start_node N: again after a kill it keeps its port and state.
start_node() {
  PORTS[$1]=${PORTS[$1]:-$(free_port)}
  start_service "$WORK/node$1.log" "${PORTS[$1]}" "$TAPEDECK_BIN/tapedeck-storage" --listen "$(address "$1")" --state "$WORK/state$1" \
    "${STORAGE_RAILS[@]}" --ceph-conf "$CEPH_CONF" --lun-lease "${LEASE_S}s" --standby-for "$MEMBER"
  PIDS[$1]=$SERVICE_PID
}

address() { echo "127.0.0.1:${PORTS[$1]}"; }
lun_is() { tapectl_json --storage "$(address "$1")" lun list | jq -e "[.luns[] | select(.state == \"$2\")] | length == 1"; }

# use N: the node that has the LUN; OTHER is the other one.
use() {
  HOLDER=$1 OTHER=$((1 - $1))
  TAPEDECK_STORAGE=$(address "$1")
  export TAPEDECK_STORAGE
}

resumed() { job ".state == \"RUNNING\" and .resumes == $1" -e; }

# send RATE SECONDS: in the background, to the job that listens at PORT; `sent` waits for its end and sets SENT.
send() {
  "$TAPEDECK_BIN/tapedeck-emulator" --udp "127.0.0.1:$PORT" --rate "$1" --duration "$2s" --packet-bytes 1024 >"$WORK/sent.json" &
  SENDER=$!
}
sent() {
  wait "$SENDER" || fail "the emulator failed"
  SENT=$(cat "$WORK/sent.json")
}

# adds_up WHAT: of one recording, what is there and what is named as lost is what was sent, and no byte is damaged. Sets LOST.
adds_up() {
  local name recording there annotated missing verified
  name=$(jq -r .recording <<<"$ANSWER")
  json_is "$(tapectl_json recordings list "$CHANNEL")" "[.recordings[] | select(.name == \"$name\")] | length == 1" "$1: one recording"
  recording=$(tapectl_json recordings show "$name")
  annotated=$(jq '[.annotations[] | select(.label == "lost") | .sample_count] | add // 0' <<<"$recording")
  missing=$(jq ".missing_blocks * $BLOCK_SAMPLES" <<<"$recording")
  there=$(($(jq .bytes <<<"$recording") / SAMPLE_BYTES - annotated))
  LOST=$((annotated + missing))
  ((there + LOST == $(jq .samples <<<"$SENT"))) || fail "$1: $there recorded, $annotated + $missing lost, of $SENT: $ANSWER"
  verified=$(tapectl_json recordings verify "$name" | tail -n 1)
  json_is "$verified" '[(.damaged // [])[] | select(.kind != "missing")] == []' "verifying $1"
  echo "$1: $(jq .samples <<<"$SENT") samples sent, $there recorded, $LOST named as lost, $(jq .resumes <<<"$ANSWER") take-overs"
  RECORDING=$name
}

# kill_holder RESUMES: as often it has gone on before. The node comes back as the standby.
kill_holder() {
  local began
  began=$(milliseconds)
  kill_service "${PIDS[$HOLDER]}"
  wait_for 40 resumed $(($1 + 1)) || fail "the job does not go on at the other node: $(job)"
  echo "killed: the job goes on after $(($(milliseconds) - began)) ms"
  start_node "$HOLDER"
  use "$OTHER"
  wait_for 20 lun_is "$OTHER" STANDBY || fail "the node that came back is no standby: $(tapectl_json --storage "$(address "$OTHER")" lun list)"
}

# refused: a session to the standby is told who has the LUN.
refused() {
  local answer
  answer=$(tapectl_json --storage "$(address "$OTHER")" record "$CHANNEL" --source synth --blocks 1 2>&1) && fail "a standby records: $answer"
  [[ $answer == *"pid ${PIDS[$HOLDER]}"* && $answer == *LUN_OFFLINE* ]] || fail "the standby's error: $answer"
}

# stop_holder WHAT SLOTS RATE: it is stopped for longer than its lease and goes on late.
stop_holder() {
  local stopped=$HOLDER before began
  RECORD_OPTIONS=(--slots "$2" --standby "$(address "$OTHER")" --resume-for 60s)
  begin_ingest "udp=127.0.0.1:0,timeout=30"
  # Longer than the worker takes to find out that the node is silent, and to go on.
  send "$3" 28
  sleep 3
  began=$(milliseconds)
  kill -STOP "${PIDS[$stopped]}"
  wait_for 60 resumed 1 || fail "$1: the job does not go on at the other node: $(job)"
  echo "$1: stopped; the job goes on after $(($(milliseconds) - began)) ms"
  use "$OTHER"
  sleep 1
  kill -CONT "${PIDS[$stopped]}"
  wait_for 40 grep -q 'msg="LUN lost"' "$WORK/node$stopped.log" || fail "$1: the first node does not see that it has lost the LUN"
  wait_for 40 lun_is "$stopped" STANDBY || fail "$1: it is no standby"
  sent
  end_ingest
  adds_up "$1"
  before=$(tapectl_json recordings show "$RECORDING" | jq -c '[.blocks, .bytes, .missing_blocks]')
  sleep 1
  [[ $before == "$(tapectl_json recordings show "$RECORDING" | jq -c '[.blocks, .bytes, .missing_blocks]')" ]] || fail "$1: it changes after its end"
  tapectl recordings delete "$RECORDING" >/dev/null
  : >"$WORK/node$stopped.log"
}

begin_test
need ceph-mon
need ceph-osd
need rados
[[ -x $TAPEDECK_BIN/storage_rados_test ]] || skip "built without librados"
CEPH_CONF=${TAPEDECK_CEPH_CONF:-} CLUSTER_DIR=
trap end_cluster EXIT
if [[ -z $CEPH_CONF ]]; then
  CLUSTER_DIR=$(mktemp -d -t tapedeck-failover.XXXX)
  CEPH_CONF=$CLUSTER_DIR/ceph.conf RADOS_PORT=$(free_port)
  export RADOS_PORT
  "$CLUSTER" start "$CLUSTER_DIR"
fi
start_node 0
start_node 1
use 0
start_worker
tapectl lun create deep --store rados --member "$MEMBER" --capacity 4GiB >/dev/null
tapectl channel create "$CHANNEL" --datatype cf32_le --block-bytes 256KiB --sample-rate 1e6 >/dev/null
wait_for 20 lun_is 1 STANDBY || fail "the second node is no standby: $(tapectl_json --storage "$(address 1)" lun list)"
refused

RECORD_OPTIONS=(--slots 512 --standby "$(address 1)" --resume-for 60s)
begin_ingest "udp=127.0.0.1:0,timeout=30"
send 2MB $((8 * ${TAKE_OVERS:-2} + 6))
sleep 2
for ((round = 0; round < ${TAKE_OVERS:-2}; ++round)); do
  kill_holder "$round"
  sleep 1
done
sent
end_ingest
json_is "$ANSWER" ".state == \"SUCCEEDED\" and .lost_blocks == 0 and .resumes == ${TAKE_OVERS:-2}" "a job over take-overs"
adds_up "killed nodes"
((LOST == 0)) || fail "$LOST samples are lost, though the ring had room"

for ((round = 0; round < ${STOPS:-0}; ++round)); do
  stop_holder "a node that goes on late" 512 4MB
  ((LOST == 0)) || fail "$LOST samples are lost, though the ring had room"
done
# The source holds some seconds of such a rate itself.
stop_holder "a small ring" 16 20MB
((LOST > 0)) || fail "nothing is lost, though the ring was too small"
tapectl lun delete deep --force >/dev/null
