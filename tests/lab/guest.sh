# shellcheck shell=bash
# For scripts that run in the virtual machine: what can be done to its ports. Port N is the device pN with the RDMA
# device rxN and, on machine H, the address 10.0.N.H. In a single machine, H is 1 and qN is the other end of pN.

# make_veth_port N
make_veth_port() {
  modprobe veth
  ip link add "p$1" type veth peer name "q$1"
  ip link set "q$1" mtu 9000
  ip link set "q$1" up
}

port_down() { ip link set "p$1" down; }
port_up() { ip link set "p$1" up; }

# set_mtu N BYTES: the path MTU becomes the largest power of two that fits with RoCE's headers: 4200 gives 4096,
# 1500 gives 1024.
set_mtu() { ip link set "p$1" mtu "$2"; }

# add_address N H; drop_addresses N takes all away, and with them the port's RoCEv2 GIDs.
add_address() { ip address add "10.0.$1.$2/24" dev "p$1"; }
drop_addresses() { ip address flush dev "p$1"; }
