#!/usr/bin/env bash
# tapectl doctor finds nothing on a healthy pair, and each fault that is planted: real ports, disks, limits and files, each
# put right again before the next. Clocks that differ need two machines: doctor_two_hosts.sh.
#   doctor.sh [FAULT...]     these alone
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/faults.sh"
source "$(dirname "${BASH_SOURCE[0]}")/doctor_lib.sh"
in_private_network "$@"

# see_own_network: /sys shows the interfaces of the network that it was mounted in, so it is mounted anew, in a mount
# namespace of the test's own. Runs the test again inside it.
see_own_network() {
  if [[ ${TAPEDECK_PRIVATE_MOUNTS:-} != yes ]]; then
    unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
    TAPEDECK_PRIVATE_MOUNTS=yes exec unshare -m "$0" "$@"
  fi
  mount --rbind /sys/fs/cgroup /mnt
  mount -t sysfs none /sys || skip "/sys cannot be mounted in a namespace here"
  mount --rbind /mnt /sys/fs/cgroup
}
see_own_network "$@"

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
FAULTS=(mtu port_down wrong_address unreachable other_subnet missing_gpu memlock no_io_uring full_lun unwritable_member
  slow_disk shared_disk no_worker)
NOT_TRIED=()

# port NAME NETWORK: with jumbo frames, and with an address of the storage node and one of the worker.
port() {
  ip link add "$1" type veth peer name "$1-peer" 2>/dev/null || skip "this kernel makes no veth interfaces"
  ip link set "$1-peer" mtu 9000 up
  ip link set "$1" mtu 9000 up
  ip address add "$2.1/24" dev "$1"
  ip address add "$2.2/24" dev "$1"
  # The kernel tells of a carrier some time after its cause.
  wait_for 5 is_up "$1" || fail "$1 does not come up"
}

is_up() { [[ $(<"/sys/class/net/$1/operstate") == up ]]; }

not_tried() {
  NOT_TRIED+=("$*")
  echo "not tried: $*"
}

restart_worker() {
  stop_service "$WORKER_PID"
  start_worker
}

restart_storage() {
  stop_service "$STORAGE_PID"
  "${@:-start_storage}"
}

# start_storage_under COMMAND...: the same node, begun by that.
start_storage_under() {
  start_service "$WORK/storage.log" "$STORAGE_PORT" "$@" "$TAPEDECK_BIN/tapedeck-storage" --listen "$TAPEDECK_STORAGE" \
    --state "$WORK/state" "${STORAGE_RAILS[@]}"
  STORAGE_PID=$SERVICE_PID
}

mtu() {
  ip link set p1 mtu 1500
  finds PATH_MTU_SMALL warning storage
  json_is "$ANSWER" '.nodes[0].rails[1] | .mtu_bytes == 1500 and .limit_bytes_per_s < .best_limit_bytes_per_s' "the rail's limits"
  ip link set p1 mtu 9000
}

port_down() {
  ip link set p1 down
  finds PORT_DOWN error worker
  ip link set p1 up
  wait_for 5 is_up p1 || fail "p1 does not come up"
}

wrong_address() {
  ip address del 10.78.1.2/24 dev p1
  finds ADDRESS_NOT_HERE error worker
  ip address add 10.78.1.2/24 dev p1
}

unreachable() {
  ip route replace unreachable 10.78.1.1/32 table local
  finds RAIL_UNREACHABLE error worker
  ip route replace local 10.78.1.1/32 dev p1 src 10.78.1.1 table local
}

other_subnet() {
  local rails=("${WORKER_RAILS[@]}")
  WORKER_RAILS=(--rail r0=tcp:10.78.0.2 --rail r1=tcp:10.78.2.2)
  restart_worker
  finds RAIL_SUBNETS_DIFFER warning pair
  WORKER_RAILS=("${rails[@]}")
  restart_worker
}

missing_gpu() {
  ! nvidia-smi >/dev/null 2>&1 || { not_tried "missing_gpu: this machine has a GPU" && return; }
  WORKER_DEVICE=auto restart_worker
  finds DEVICE_UNUSABLE warning worker
  restart_worker
}

# What a service that may lock 64 KiB does, without the capability to lock more.
memlock() {
  need setpriv
  restart_storage start_storage_under bash -c 'ulimit -l 64 && exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$@"' memlock
  finds MEMLOCK_TOO_LOW warning storage
  restart_storage
}

no_io_uring() {
  restart_storage start_storage_under "$HERE/without_io_uring.py"
  finds IO_URING_BLOCKED warning storage
  grep -q IO_URING_BLOCKED "$WORK/storage.log" || fail "the log has another code"
  restart_storage
}

full_lun() {
  CAPACITY=16MiB lun_with_channel posix full/c0 cf32_le 1MiB
  if tapectl record full/c0 --source synth --duration 100s >/dev/null 2>&1; then fail "a full LUN ended no recording"; fi
  finds LUN_FULL error storage
  tapectl lun delete full --force >/dev/null
}

# A file system that has become read-only while the node was away, as one does after an error.
unwritable_member() {
  mkdir "$WORK/mount"
  mount -t tmpfs -o size=64m none "$WORK/mount" 2>/dev/null || { not_tried "unwritable_member: no tmpfs may be mounted" && return; }
  trap end_mounted EXIT
  mkdir "$WORK/mount/member"
  tapectl lun create readonly --store posix --member "$WORK/mount/member" --capacity 32MiB >/dev/null
  stop_service "$STORAGE_PID"
  mount -o remount,ro "$WORK/mount"
  start_storage
  finds MEMBER_UNUSABLE error storage
  mount -o remount,rw "$WORK/mount"
  wait_for 20 is_ready readonly || fail "the LUN does not come back: $(tapectl lun list)"
  tapectl lun delete readonly --force >/dev/null
}

end_mounted() {
  local status=$?
  umount -l "$WORK/mount" 2>/dev/null || true
  (exit "$status")
  end_test
}

is_ready() { tapectl_json lun list | jq -e ".luns[] | select(.name == \"luns/$1\") | .state == \"READY\""; }

# throttle BYTES_PER_S: what the storage node writes to the disk of WORK, by a control group of the kernel; 0: no more.
throttle() {
  local number disk group=/sys/fs/cgroup/blkio/tapedeck-doctor.$$
  number=$(stat -c %d "$WORK")
  disk=$((number >> 8)):$((number & 255))
  if (($1 == 0)); then
    echo "$STORAGE_PID" >/sys/fs/cgroup/blkio/cgroup.procs && rmdir "$group"
    return
  fi
  mkdir -p "$group" 2>/dev/null && echo "$disk $1" >"$group/blkio.throttle.write_bps_device" 2>/dev/null &&
    echo "$STORAGE_PID" >"$group/cgroup.procs"
}

# lun_at LUN BYTES_PER_S: a LUN with one channel of that rate.
lun_at() {
  mkdir -p "$WORK/member-$1"
  tapectl lun create "$1" --store direct --member "$WORK/member-$1" --capacity 1GiB >/dev/null
  tapectl channel create "$1/c0" --datatype cf32_le --sample-rate "$(($2 / 8))" >/dev/null
}

slow_disk() {
  throttle 20000000 || { not_tried "slow_disk: no disk can be slowed down here (cgroup blkio)" && return; }
  lun_at slow 60000000
  finds DISK_TOO_SLOW warning storage --measure
  throttle 0
  is_healthy --measure
  tapectl lun delete slow --force >/dev/null
}

# Each of them fits the disk alone.
shared_disk() {
  throttle 60000000 || { not_tried "shared_disk: no disk can be slowed down here (cgroup blkio)" && return; }
  lun_at one 40000000
  lun_at other 40000000
  finds LUNS_SHARE_DISK warning storage --measure
  [[ -z $(find "$WORK" -name '*doctor-*') ]] || fail "the doctor left a file: $(find "$WORK" -name '*doctor-*')"
  throttle 0
  tapectl lun delete one --force >/dev/null
  tapectl lun delete other --force >/dev/null
}

no_worker() {
  stop_service "$WORKER_PID"
  finds NODE_UNREACHABLE error worker
  ((DOCTOR_STATUS == 11)) || fail "exit status $DOCTOR_STATUS of an error"
  start_worker
}

begin_test
for number in 0 1 2; do port "p$number" "10.78.$number"; done
STORAGE_RAILS=(--rail r0=tcp:10.78.0.1 --rail r1=tcp:10.78.1.1)
WORKER_RAILS=(--rail r0=tcp:10.78.0.2 --rail r1=tcp:10.78.1.2) WORKER_DEVICE=host
start_storage
start_worker
CAPACITY=1GiB lun_with_channel direct healthy/c0 cf32_le 1MiB
is_healthy --measure
(($# > 0)) || set -- "${FAULTS[@]}"
for fault in "$@"; do
  "$fault"
  is_healthy
done
tapectl doctor >"$WORK/table" || fail "the table's exit status"
grep -q "NOTHING IS WRONG" "$WORK/table" || fail "not the table of a healthy pair: $(cat "$WORK/table")"
echo "$(($# - ${#NOT_TRIED[@]})) of $# faults planted and found, nothing on the healthy pair before and after each"
((${#NOT_TRIED[@]} == 0)) || skip "${NOT_TRIED[*]}; all else passed"
