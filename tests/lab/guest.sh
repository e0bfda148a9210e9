#!/usr/bin/env bash
# For scripts that run in the virtual machine, to be sourced or called as guest.sh FUNCTION ARGUMENT...: what can be
# done to its ports. Port N is the device pN with the RDMA device rxN and, on machine H, the address 10.0.N.H. In a
# single machine, H is 1 and qN is the other end of pN.

# make_veth_port N
make_veth_port() {
  modprobe veth
  ip link add "p$1" type veth peer name "q$1"
  ip link set "q$1" mtu 9000
  ip link set "q$1" up
}

# make_rdma PORT DEVICE: an RDMA device on a network device.
make_rdma() { rdma link add "$1" type rxe netdev "$2"; }

# ready_port N HOST MTU yes|no: pN, which is there, gets its MTU, its address and, if told, its RDMA device.
ready_port() {
  set_mtu "$1" "$3"
  add_address "$1" "$2"
  port_up "$1"
  [[ $4 == no ]] || make_rdma "rx$1" "p$1"
}

port_down() { ip link set "p$1" down; }
port_up() { ip link set "p$1" up; }

# remove_port N: network and RDMA device go, as if pulled out. Programs that use librdmacm are told at once
# (RDMA_CM_EVENT_DEVICE_REMOVAL; verbs' own events do not say it); the kernel finishes when the last has closed it.
remove_port() { ip link delete "p$1" >/dev/null 2>&1 & }

# remake_port N HOST MTU yes|no: in a single machine, pN is as it was after the boot, whatever it is now.
remake_port() {
  local device
  for device in "rx$1" "ry$1"; do rdma link delete "$device" 2>/dev/null || true; done
  ip link delete "p$1" 2>/dev/null || true
  make_veth_port "$1"
  ready_port "$@"
}

# set_mtu N BYTES: the path MTU becomes the largest power of two that fits with RoCE's headers: 4200 gives 4096,
# 1500 gives 1024.
set_mtu() { ip link set "p$1" mtu "$2"; }

# add_address N H; drop_addresses N takes all away, and with them the port's RoCEv2 GIDs.
add_address() { ip address add "10.0.$1.$2/24" dev "p$1"; }
drop_addresses() { ip address flush dev "p$1"; }

# disturb N NETEM...: what leaves port N is lost, delayed, corrupted, such as "loss 2%" or "delay 2ms". Soft-RoCE
# between two users of one port never leaves it: use a peer port, or two machines.
disturb() { modprobe sch_netem && tc qdisc replace dev "p$1" root netem "${@:2}"; }
undisturb() { tc qdisc delete dev "p$1" root; }

# add_peer_port N: makes the other end of pN, in a single machine, the RDMA port ryN with the address 10.0.N.2. What
# rxN and ryN exchange goes over the wire between them. Local addresses would be reached over lo: the kernel is told
# to take them from a wire, and each end the other's hardware address.
add_peer_port() {
  local device
  for device in "p$1" "q$1"; do
    echo 1 >"/proc/sys/net/ipv4/conf/$device/accept_local"
    echo 0 >"/proc/sys/net/ipv4/conf/$device/rp_filter"
  done
  echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
  ip link set "q$1" mtu "$(<"/sys/class/net/p$1/mtu")"
  ip address add "10.0.$1.2/24" dev "q$1"
  ip neighbour replace "10.0.$1.2" lladdr "$(<"/sys/class/net/q$1/address")" dev "p$1" nud permanent
  ip neighbour replace "10.0.$1.1" lladdr "$(<"/sys/class/net/p$1/address")" dev "q$1" nud permanent
  make_rdma "ry$1" "q$1"
}

# slow_address ADDRESS RATE: what goes to or from this address of lo shares the rate, such as 8mbit, until free_address. Each
# connection has a queue of its own: in a common one two senders' segments leave no room, and a third goes silent. Packets are as
# large as a NIC's: at 1500kbit one of lo's 64 KiB would keep every other connection waiting for a third of a second.
slow_address() {
  local end
  modprobe -a sch_prio sch_tbf sch_sfq cls_u32
  ip link set lo mtu 1500
  tc qdisc add dev lo root handle 1: prio bands 3 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
  shape_address add "$2"
  tc qdisc add dev lo parent 30:1 handle 31: sfq
  for end in src dst; do
    tc filter add dev lo parent 1: protocol ip u32 match ip "$end" "$1/32" flowid 1:3
  done
}

# shape_address add|change RATE: that of the slow address. What is larger than a burst is cut into packets.
shape_address() { tc qdisc "$1" dev lo parent 1:3 handle 30: tbf rate "$2" burst 32kb latency 1s; }

free_address() {
  tc qdisc delete dev lo root || true
  ip link set lo mtu 65536
}

# rdma_state N: the port's state as the RDMA device sees it, such as ACTIVE or DOWN.
rdma_state() { sed 's/.*: //' "/sys/class/infiniband/rx$1/ports/1/state"; }

# await_state N STATE: fails after 20 s, times the machine's slowness.
await_state() {
  local deadline=$((SECONDS + 20 * $(slowness)))
  until [[ $(rdma_state "$1") == "$2" ]]; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# rdma_counter N NAME: such as sent_pkts, rcvd_seq_err, completer_retry_err, retry_exceeded_err.
rdma_counter() { cat "/sys/class/infiniband/rx$1/ports/1/hw_counters/$2"; }

# await_listener tcp|rdma PORT: returns once a program listens there; fails after 20 s, times the machine's slowness.
await_listener() {
  local listeners=(ss -Htln) deadline=$((SECONDS + 20 * $(slowness)))
  [[ $1 == tcp ]] || listeners=(rdma resource show cm_id)
  until "${listeners[@]}" | grep 'LISTEN' | grep -q "[: ]$2 "; do
    ((SECONDS < deadline)) || return 1
    sleep 0.1
  done
}

# guest_disk N: the device of the machine's disk N, counted from 0; the kernel's own letters come as the disks answer.
guest_disk() {
  local path
  for path in /sys/block/vd*; do
    [[ $(<"$path/serial") != "disk$1" ]] || echo "/dev/${path##*/}"
  done
}

# slowness: how many times longer than promised things may take in this machine now, by the time that starting a few
# programs takes: 2 on an idle host of two cores.
slowness() {
  local started=${EPOCHREALTIME/[.,]/} slow
  for _ in 1 2 3; do bash -c :; done
  slow=$((1 + (${EPOCHREALTIME/[.,]/} - started) / 1000 / SLOWNESS_MS))
  echo $((slow > 2 ? slow : 2))
}
SLOWNESS_MS=250

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  "$@"
fi
