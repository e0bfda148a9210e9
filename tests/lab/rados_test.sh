#!/usr/bin/env bash
# A LUN on a real Ceph cluster of three OSDs (rados.sh): the suites of its store; what is recorded there verifies and plays byte
# for byte, also with its payload in an erasure-coded pool; a second node is refused; kill -9 of the storage node while it
# records; nothing is left of a deleted LUN.
#   rados_test.sh [KILLS [OSD_KILLS [HANGS]]]   how often the node is killed, an OSD is killed, and an OSD hangs: 1 0 0 unless
#                                               told, and with TAPEDECK_LONG 10 10 20, where two and three members, a
#                                               take-over, a dead monitor, followers, triggers, rings, a full cluster and attaching come along
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/lab/rados_nodes_lib.sh
source "$TAPEDECK_ROOT/tests/lab/rados_nodes_lib.sh"
# shellcheck source=tests/lab/rados_faults_lib.sh
source "$TAPEDECK_ROOT/tests/lab/rados_faults_lib.sh"

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
