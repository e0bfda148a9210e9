// From a rail's address to the network interface that has it.
#pragma once

#include <string>
#include <vector>

namespace tapedeck::dataplane::topology {

// "eth0" for the numeric IPv4 or IPv6 `address`; empty if no interface of this machine has it.
std::string InterfaceOf(const std::string& address);

// The numeric address of an interface of this machine: its first of IPv4, else its first of IPv6
// that is good beyond its own link; empty if it has none, or there is no such interface.
std::string AddressOf(const std::string& interface);

// The interfaces of this machine that have an address, sorted.
std::vector<std::string> InterfacesWithAddresses();

// Bits of the network's part of `address`, which an interface of this machine has; 0 if none has
// it.
int PrefixBitsOf(const std::string& address);

// Whether both numeric addresses are of one network, whose part of them has so many bits.
bool SameNetwork(const std::string& a, const std::string& b, int prefix_bits);

// The interface that `name` is stacked upon, e.g. the port below a VLAN. Empty if it is upon none,
// or upon several as a bond is. `sysfs` is where the system lists its interfaces.
std::string InterfaceBelow(const std::string& name, const std::string& sysfs = "/sys/class/net");

}  // namespace tapedeck::dataplane::topology
