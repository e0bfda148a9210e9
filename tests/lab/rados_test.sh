#!/usr/bin/env bash
# A LUN on a real Ceph cluster of three OSDs (rados.sh): the suites of its store; what is recorded there verifies and plays byte
# for byte, also with its payload in an erasure-coded pool; a second node is refused; kill -9 of the storage node while it
# records; nothing is left of a deleted LUN.
#   rados_test.sh [KILLS [OSD_KILLS [HANGS]]]   how often the node is killed, an OSD is killed, and an OSD hangs: 1 0 0 unless
#                                               told, and with TAPEDECK_LONG 10 10 20, where two and three members, a
#                                               take-over, a dead monitor, followers, triggers, rings, a full cluster and attaching come along
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

CLUSTER=$TAPEDECK_ROOT/tests/lab/rados.sh
LONG=${TAPEDECK_LONG:-}
KILLS=${1:-${LONG:+10}} OSD_KILLS=${2:-${LONG:+10}} HANGS=${3:-${LONG:+20}}
MEMBER=rados:tape/deep

cluster() { "$CLUSTER" "$1" "$CLUSTER_DIR" "${@:2}"; }
objects() { rados --conf "$CLUSTER_DIR/ceph.conf" -p tape -N "$1" ls; }
job_is_over() { ! kill -0 "$JOB_PID" 2>/dev/null; }
blocks_are() { (($(job .blocks) >= $1)); }
lun_is() { tapectl_json lun list | jq -e "[.luns[] | select(.state == \"$1\")] | length == 1"; }

# shellcheck disable=SC2317
end_cluster() {
  local status=$?
  if ((status != 0 && status != 77)); then cluster status >&2 || true; fi
  cluster stop || true
  rm -rf "$CLUSTER_DIR"
  (exit "$status") && true
  end_test
}

# began: says how long the step before took.
began() {
  local now
  now=$(milliseconds)
  [[ -z ${STEP:-} ]] || echo "$STEP: $((now - STEP_BEGAN)) ms"
  STEP=${1:-} STEP_BEGAN=$now
}

suites() {
  local suite members=1
  [[ -z $LONG ]] || members=
  for suite in "store_conformance_test --gtest_filter=*rados$members*" storage_rados_test; do
    # shellcheck disable=SC2086
    TAPEDECK_CEPH_CONF=$CLUSTER_DIR/ceph.conf "$TAPEDECK_BIN"/$suite >"$WORK/suite.log" 2>&1 ||
      fail "$suite: $(grep -A5 -e Failure -e FAILED "$WORK/suite.log" | head -n 40)"
    ! grep -q SKIPPED "$WORK/suite.log" || fail "$suite skipped: $(grep -m1 -A2 SKIPPED "$WORK/suite.log")"
    tail -n 1 "$WORK/suite.log"
  done
}

round_trip() {
  local name
  head -c $((37 * MIB + 12345)) /dev/urandom >"$WORK/source"
  name=$(tapectl_json record deep/raw --source "file:$WORK/source" | tail -n 1 | jq -r .recording)
  json_is "$(tapectl_json recordings verify "$name" | tail -n 1)" '(.damaged // []) == []' "verifying $name"
  tapectl play "$name" --sink "file:$WORK/copy" >/dev/null
  cmp "$WORK/source" "$WORK/copy" || fail "$name plays other bytes"
  tapectl_json scrub start deep >"$WORK/scrub.json" || fail "scrub: $(cat "$WORK/scrub.json")"
  ROUND_TRIP=$name
}

# start_second: a node that knows nothing; sets SECOND.
start_second() {
  local port
  port=$(free_port)
  SECOND=127.0.0.1:$port
  start_service "$WORK/second.log" "$port" "$TAPEDECK_BIN/tapedeck-storage" --listen "$SECOND" \
    --state "$(mktemp -d -p "$WORK")" "${STORAGE_RAILS[@]}" "${STORAGE_OPTIONS[@]}"
}

# second_node: it is told who has the LUN, and takes nothing.
second_node() {
  local answer
  start_second
  answer=$(tapectl_json --storage "$SECOND" lun attach --member "$MEMBER" 2>&1) && fail "two nodes have the LUN: $answer"
  [[ $answer == *"in use by the storage node with pid $STORAGE_PID"* ]] || fail "the second node: $answer"
  stop_service "$SERVICE_PID"
}

kill_node() {
  local name seen killed
  start_job record deep/synth --source synth --duration 600s --resume-for 0s
  name=$(newest_recording)
  seen=$(job .blocks)
  kill_service "$STORAGE_PID"
  wait_for 10 job_is_over || fail "the job outlives its node"
  end_job
  killed=$(milliseconds)
  start_storage
  wait_for 15 is_closed "$name" || fail "$name after a kill: $(tapectl_json lun list)"
  echo "killed at block $seen; closed $(($(milliseconds) - killed)) ms after the start"
  json_is "$(tapectl_json recordings show "$name")" ".durable_watermark >= $seen" "durable blocks"
  is_salvaged "$name" "$seen" "the recording of a dead node"
  tapectl recordings delete "$name" >/dev/null
}

# take_over: the node is stopped for longer than its lease, another one has the LUN, and what the first one still had to write
# when it goes on reaches nobody.
take_over() {
  local name seen first=$TAPEDECK_STORAGE
  start_job record deep/synth --source synth --duration 600s --resume-for 0s
  name=$(newest_recording)
  seen=$(job .blocks)
  kill -STOP "$STORAGE_PID"
  wait_for 60 job_is_over || fail "the job outlives its node"
  end_job
  start_second
  export TAPEDECK_STORAGE=$SECOND
  wait_for 120 tapectl lun attach --member "$MEMBER" || fail "nobody gets the LUN: $(tapectl lun attach --member "$MEMBER" 2>&1)"
  is_salvaged "$name" "$seen" "a recording that was taken over"
  kill -CONT "$STORAGE_PID"
  wait_for 60 grep -q 'msg="LUN lost"' "$WORK/storage.log" || fail "the first node does not see that it has lost the LUN"
  is_salvaged "$name" "$seen" "a recording that was taken over, once the first node goes on"
  is_whole "$(tapectl_json record deep/synth --source synth --blocks 50 | tail -n 1)" "recording after a take-over"
  stop_service "$SERVICE_PID"
  export TAPEDECK_STORAGE=$first
  wait_for 60 lun_is READY || fail "the first node does not get the LUN back: $(tapectl_json lun list)"
}

kill_osd() {
  local name seen
  start_job record deep/synth --source synth --duration 600s
  name=$(newest_recording)
  cluster kill-osd "$1"
  seen=$(job .blocks)
  wait_for 30 blocks_are $((seen + 50)) || fail "no block is stored after OSD $1 was killed: $(job)"
  cancel_job
  is_sound "$name" "a recording beside a dead OSD"
  tapectl recordings delete "$name" >/dev/null
  cluster start-osd "$1"
}

# silence_osd N SILENCE BACK WHAT: by these orders it answers nothing, and is back; until it counts as down the blocks wait in the
# ring.
silence_osd() {
  local name seen began
  start_job record deep/synth --source synth --duration 600s
  name=$(newest_recording)
  cluster "$2" "$1"
  began=$(milliseconds)
  seen=$(job .blocks)
  wait_for 40 blocks_are $((seen + 100)) || fail "no block is stored after OSD $1 $4: $(job)"
  echo "OSD $1 $4: 100 blocks later after $(($(milliseconds) - began)) ms"
  cluster "$3" "$1"
  cancel_job
  is_sound "$name" "a recording beside an OSD that $4"
  tapectl recordings delete "$name" >/dev/null
}

# no_answer: two of three OSDs hang. Nothing is acknowledged by a time that is over, and the error says where and why.
no_answer() {
  local name seen began
  restart_with "$CLUSTER_DIR/short.conf"
  start_job record deep/synth --source synth --duration 600s --resume-for 0s
  name=$(newest_recording)
  cluster hang-osd 1
  cluster hang-osd 2
  began=$(milliseconds)
  wait_for 60 job_is_over || fail "the job waits for a cluster that does not answer: $(job)"
  end_job
  seen=$(job .blocks)
  echo "no answer: the job ends after $(($(milliseconds) - began)) ms: $(jq -r '.error.message // empty' "$WORK/job.json" | head -c 200)"
  expect_error_in "$ANSWER" INTERNAL STORE_IO
  [[ $ANSWER == *"$MEMBER"* && $ANSWER == *"did not answer in time"* ]] || fail "the error names neither pool nor cause: $ANSWER"
  cluster cont-osd 1
  cluster cont-osd 2
  restart_with "$CLUSTER_DIR/ceph.conf"
  wait_for 30 is_closed "$name" || fail "$name is not closed: $(tapectl_json lun list)"
  is_salvaged "$name" "$seen" "what was recorded before no OSD answered"
}

# no_monitor: whoever is connected goes on; whoever is not is told in time.
no_monitor() {
  local name seen began answer
  start_job record deep/synth --source synth --duration 600s
  name=$(newest_recording)
  cluster kill-mon
  seen=$(job .blocks)
  wait_for 30 blocks_are $((seen + 100)) || fail "no block is stored after the monitor was killed: $(job)"
  cancel_job
  is_sound "$name" "a recording without a monitor"
  began=$(milliseconds)
  answer=$(tapectl_json lun create more --store rados --member rados:tape/more --capacity 1GiB 2>&1) && fail "made without a monitor"
  expect_error_in "$answer" FAILED_PRECONDITION MEMBER_UNUSABLE
  echo "no monitor: a LUN is refused within $(($(milliseconds) - began)) ms"
  cluster start-mon
}

# full: it ends at a block, is closed, verifies and is deleted while the cluster is full.
full() {
  local name began
  start_job record deep/synth --source synth --duration 600s
  name=$(newest_recording)
  cluster full
  began=$(milliseconds)
  wait_for 60 job_is_over || fail "the job goes on into a full cluster: $(job)"
  end_job
  echo "full: the job ends after $(($(milliseconds) - began)) ms: $(jq -r '.error.message // empty' "$WORK/job.json" | head -c 200)"
  expect_error_in "$ANSWER" RESOURCE_EXHAUSTED LUN_FULL
  [[ $ANSWER == *"pool tape has no room"* ]] || fail "the error does not name the pool: $ANSWER"
  wait_for 20 is_closed "$name" || fail "$name is not closed on a full cluster: $(tapectl_json recordings show "$name")"
  json_is "$(tapectl_json recordings show "$name")" '.blocks - .missing_blocks > 0' "$name"
  json_is "$(tapectl_json recordings verify "$name" | tail -n 1)" '[(.damaged // [])[] | select(.kind != "missing")] == []' "$name"
  tapectl recordings delete "$name" >/dev/null || fail "nothing can be deleted on a full cluster"
  cluster empty
  wait_for 30 records_again || fail "nothing can be recorded once there is room: $(tapectl_json record deep/synth --source synth --blocks 8 2>&1)"
}

records_again() { tapectl record deep/synth --source synth --blocks 8; }

# on_ceph SCRIPT: that test, all of it on LUNs of this cluster.
on_ceph() {
  TAPEDECK_CEPH_CONF=$CLUSTER_DIR/ceph.conf "$TAPEDECK_ROOT/tests/e2e/$1" rados >"$WORK/$1.log" 2>&1 ||
    fail "$1 on Ceph: $(tail -n 20 "$WORK/$1.log")"
}

# erasure_coded: a LUN with its payload in the pool that has it in parts.
erasure_coded() {
  local name
  tapectl lun create coded --store rados --member rados:tape+bulk/coded --capacity 1GiB >/dev/null
  tapectl channel create coded/raw --datatype cu8 --block-bytes 256KiB --sample-rate 1e6 >/dev/null
  name=$(tapectl_json record coded/raw --source "file:$WORK/source" | tail -n 1 | jq -r .recording)
  json_is "$(tapectl_json recordings verify "$name" | tail -n 1)" '(.damaged // []) == []' "verifying $name"
  tapectl play "$name" --sink "file:$WORK/copy" --replace >/dev/null
  cmp "$WORK/source" "$WORK/copy" || fail "$name plays other bytes"
  tapectl lun delete coded --force >/dev/null
  [[ -z $(objects coded) && -z $(rados --conf "$CLUSTER_DIR/ceph.conf" -p bulk -N tape/coded ls) ]] || fail "objects are left of it"
}

cancel_job() {
  tapectl jobs cancel "$(job .name)" >/dev/null
  end_job
}

# is_sound RECORDING WHAT: no block of it is lost or damaged.
is_sound() {
  local said
  wait_for 40 is_closed "$1" || fail "$2 is not closed: $(job)"
  said=$(tapectl_json recordings verify "$1" | tail -n 1)
  json_is "$said" '(.damaged // []) == []' "verifying $2"
  said=$(tapectl_json play "$1" --sink verify | tail -n 1)
  is_whole "$said" "playing $2"
}

# restart_with CONF: the node, on the cluster as that file has it.
restart_with() {
  stop_service "$STORAGE_PID"
  STORAGE_OPTIONS=(--ceph-conf "$1")
  start_storage
  wait_for 20 lun_is READY || fail "the LUN does not come back: $(tapectl_json lun list)"
}

# another_place: the LUN is taken along to a node that knows nothing of it.
another_place() {
  tapectl lun detach deep >/dev/null
  tapectl lun attach --member "$MEMBER" >/dev/null
  tapectl play "$ROUND_TRIP" --sink "file:$WORK/copy" --replace >/dev/null
  cmp "$WORK/source" "$WORK/copy" || fail "$ROUND_TRIP plays other bytes once attached"
}

# nothing_left: of a LUN that is deleted.
nothing_left() {
  tapectl lun delete deep --force >/dev/null
  [[ -z $(objects deep) ]] || fail "objects are left of a deleted LUN: $(objects deep | head -n 5)"
}

begin_test
need ceph-mon
need ceph-osd
need rados
[[ -x $TAPEDECK_BIN/storage_rados_test ]] || skip "built without librados"
CLUSTER_DIR=$(mktemp -d -t tapedeck-rados.XXXX)
RADOS_PORT=$(free_port)
export RADOS_PORT
trap end_cluster EXIT
began "the cluster starts"
cluster start
{
  cat "$CLUSTER_DIR/ceph.conf"
  printf '[client]\nrados_osd_op_timeout = 5\n'
} >"$CLUSTER_DIR/short.conf"
began "suites"
suites
began "a round trip"
STORAGE_OPTIONS=(--ceph-conf "$CLUSTER_DIR/ceph.conf")
start_storage
start_worker
tapectl lun create deep --store rados --member "$MEMBER" --capacity 4GiB >/dev/null
tapectl channel create deep/raw --datatype cu8 --block-bytes 256KiB --sample-rate 1e6 >/dev/null
tapectl channel create deep/synth --datatype cf32_le --block-bytes 1MiB --sample-rate 1e6 >/dev/null
round_trip
began "a second node"
second_node
began "erasure-coded"
erasure_coded
for ((round = 0; round < ${KILLS:-1}; ++round)); do
  began "kill -9 of the node"
  kill_node
done
for ((round = 0; round < ${OSD_KILLS:-0}; ++round)); do
  began "kill -9 of an OSD"
  kill_osd $((round % 3))
done
for ((round = 0; round < ${HANGS:-0}; ++round)); do
  began "an OSD hangs"
  silence_osd $((round % 3)) hang-osd cont-osd hung
done
began "a pair of nodes"
TAPEDECK_CEPH_CONF=$CLUSTER_DIR/ceph.conf "$TAPEDECK_ROOT/tests/lab/failover_test.sh" >"$WORK/failover.log" 2>&1 ||
  fail "failover_test.sh: $(tail -n 40 "$WORK/failover.log")"
grep -e take-overs -e "goes on after" "$WORK/failover.log"
if [[ -n $LONG ]]; then
  for ((round = 0; round < 3; ++round)); do
    began "the network to an OSD is cut"
    iptables -w 10 -L INPUT -n >/dev/null 2>&1 || { echo "not tried: iptables does not work here" && break; }
    silence_osd "$round" cut-osd mend-osd "was cut off"
  done
  began "taken over"
  take_over
  began "the monitor is killed"
  no_monitor
  began "two OSDs hang"
  no_answer
  began "followers and a trigger"
  on_ceph follow.sh
  began "rings"
  on_ceph ring.sh
  began "a full cluster"
  full
  began "attached"
  another_place
fi
began "deleted"
nothing_left
began
