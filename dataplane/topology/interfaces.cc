#include "dataplane/topology/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "dataplane/socket_address.h"

namespace tapedeck::dataplane::topology {
namespace {

// An IPv4 or IPv6 address or mask in network order.
using Bytes = std::vector<uint8_t>;

Bytes BytesOf(const sockaddr* address) {
  if (address == nullptr) return {};
  Bytes bytes;
  if (address->sa_family == AF_INET) {
    bytes.resize(sizeof(in_addr));
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(address)->sin_addr,
                bytes.size());
  } else if (address->sa_family == AF_INET6) {
    bytes.resize(sizeof(in6_addr));
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr,
                bytes.size());
  }
  return bytes;
}

Bytes Parse(const std::string& address) {
  const std::optional<SocketAddress> ip = ParseIp(address);
  return ip.has_value() ? BytesOf(ip->get()) : Bytes();
}

bool SameNetwork(const Bytes& a, const Bytes& b, const Bytes& mask) {
  if (a.size() != b.size() || a.size() != mask.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if ((a[i] & mask[i]) != (b[i] & mask[i])) return false;
  }
  return true;
}

struct Free {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

struct Holder {
  std::string name;
  Bytes mask;
};

// Null where the system has no memory for it.
std::unique_ptr<ifaddrs, Free> ListInterfaces() {
  ifaddrs* raw = nullptr;
  if (getifaddrs(&raw) != 0) raw = nullptr;
  return std::unique_ptr<ifaddrs, Free>(raw);
}

std::string Text(int family, const Bytes& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr ? "" : text.data();
}

bool IsOfItsLinkOnly(const Bytes& bytes) {
  return bytes.size() == sizeof(in6_addr) && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
}

// The interface that has `address`.
Holder Holding(const std::string& address) {
  const Bytes wanted = Parse(address);
  if (wanted.empty()) return {};
  const std::unique_ptr<ifaddrs, Free> list = ListInterfaces();
  Holder loopback;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    const Bytes own = BytesOf(entry->ifa_addr);
    const Bytes mask = BytesOf(entry->ifa_netmask);
    if (own == wanted) return {entry->ifa_name, mask};
    // Every address of a loopback's network is its own: 127.0.0.2 is not listed.
    if ((entry->ifa_flags & IFF_LOOPBACK) != 0 && SameNetwork(own, wanted, mask)) {
      loopback = {entry->ifa_name, mask};
    }
  }
  return loopback;
}

}  // namespace

std::string InterfaceOf(const std::string& address) { return Holding(address).name; }

std::string AddressOf(const std::string& interface) {
  const std::unique_ptr<ifaddrs, Free> list = ListInterfaces();
  std::string second;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    const Bytes own = BytesOf(entry->ifa_addr);
    if (interface != entry->ifa_name || own.empty() || IsOfItsLinkOnly(own)) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family == AF_INET) return Text(family, own);
    if (second.empty()) second = Text(family, own);
  }
  return second;
}

std::vector<std::string> InterfacesWithAddresses() {
  const std::unique_ptr<ifaddrs, Free> list = ListInterfaces();
  std::set<std::string> names;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    const Bytes own = BytesOf(entry->ifa_addr);
    if (!own.empty() && !IsOfItsLinkOnly(own)) names.insert(entry->ifa_name);
  }
  return {names.begin(), names.end()};
}

int PrefixBitsOf(const std::string& address) {
  int bits = 0;
  for (const uint8_t byte : Holding(address).mask) bits += std::popcount(byte);
  return bits;
}

bool SameNetwork(const std::string& a, const std::string& b, int prefix_bits) {
  Bytes mask(Parse(a).size());
  for (int bit = 0; bit < prefix_bits && bit / 8 < std::ssize(mask); ++bit) {
    mask[bit / 8] = static_cast<uint8_t>(mask[bit / 8] | 0x80 >> bit % 8);
  }
  return SameNetwork(Parse(a), Parse(b), mask);
}

std::string InterfaceBelow(const std::string& name, const std::string& sysfs) {
  constexpr std::string_view kPrefix = "lower_";
  std::error_code error;
  std::string below;
  // An error, as of an interface that has gone, ends the listing.
  for (std::filesystem::directory_iterator entry(std::filesystem::path(sysfs) / name, error), end;
       entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename();
    if (!file.starts_with(kPrefix)) continue;
    if (!below.empty()) return "";
    below = file.substr(kPrefix.size());
  }
  return below;
}

}  // namespace tapedeck::dataplane::topology
