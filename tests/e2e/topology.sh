#!/usr/bin/env bash
# On a server described in a file, which hwloc reads in place of this machine: tapectl nodes tells where every rail and
# memory is, pollers keep to the processors of their port's NUMA node, and blocks move.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
in_private_network "$@"

# ens10 is a port of node 0, whose processors are the even ones; ens20 of node 1; virtual0 is not in it.
export HWLOC_XMLFILE=$TAPEDECK_ROOT/tests/dataplane/topology/two_gpus_four_ports.xml

port() {
  ip link add "$1" type veth peer name "$1-peer" 2>/dev/null || skip "this kernel makes no veth interfaces"
  ip address add "$2/24" dev "$1"
  ip link set "$1" up
}

# allowed_cpus PID THREAD: of the process's thread of that name, e.g. "0" or "0-1".
allowed_cpus() {
  local task
  for task in "/proc/$1/task"/*; do
    [[ $(<"$task/comm") == "$2" ]] && awk '/^Cpus_allowed_list:/ { print $2 }' "$task/status"
  done
}

# pinned PID THREAD CPUS: fails unless the thread keeps to those.
pinned() {
  [[ $(allowed_cpus "$1" "$2") == "$3" ]] || fail "$2 may use processors $(allowed_cpus "$1" "$2"), not $3"
}

begin_test
port ens10 10.77.10.1
port ens20 10.77.20.1
port virtual0 10.77.30.1
STORAGE_RAILS=(--rail r0=tcp:10.77.10.1 --rail r1=tcp:10.77.20.1 --rail r2=tcp:10.77.30.1)
WORKER_RAILS=("${STORAGE_RAILS[@]}") WORKER_DEVICE=host
start_storage
start_worker
! grep -q "built without hwloc" "$WORK/worker.log" || skip "this build is without hwloc"

nodes=$(tapectl_json nodes)
json_is "$nodes" '.nodes | length == 2 and all(.[]; [.rails[] | [.device, .pci_address, .numa_node]] ==
  [["ens10", "0000:19:00.0", 0], ["ens20", "0000:9b:00.0", 1], ["virtual0", "", null]])' "places of the rails"
# The memory of two nodes is near no port.
json_is "$nodes" 'all(.nodes[].memory[]; .numa_node == null and [.distances[] | [.rail, .distance, .weight]] ==
  [["r0", "UNKNOWN", 10], ["r1", "UNKNOWN", 10], ["r2", "UNKNOWN", 10]])' "distances of host memory"
tapectl nodes | grep -Eq '^r1 +[^ ]+ +ens20 +0000:9b:00.0 +1 +off$' || fail "no line for r1 in: $(tapectl nodes)"

CAPACITY=256MiB lun_with_channel memory place/c0 cf32_le 1MiB
answer=$(tapectl_json record place/c0 --source synth --blocks 64)
is_whole "$answer" "recording"
json_is "$answer" '(.rails | length) == 3 and .notes == []' "rails of a job without a known distance"
grep -q 'rails chosen.*rails=r0,r1,r2' "$WORK/worker.log" || fail "no line about the choice of rails"

[[ $(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status) == 0-1 ]] ||
  skip "pollers on their nodes: needs processors 0 and 1 and no others; all else passed"
for pid in "$STORAGE_PID" "$WORKER_PID"; do
  pinned "$pid" rail-r0 0
  pinned "$pid" rail-r1 1
  pinned "$pid" rail-r2 0-1
done
