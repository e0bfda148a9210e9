#include "dataplane/topology/topology.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tapedeck::dataplane::topology {
namespace {

// "0000:3b:00" of "0000:3b:00.1": the functions of one device differ in the last part only.
absl::string_view WithoutFunction(absl::string_view pci_address) {
  return pci_address.substr(0, pci_address.rfind('.'));
}

// By the bridges both are below. UNKNOWN if they share none.
Distance OverPci(const Device& a, const Device& b) {
  if (WithoutFunction(a.place.pci_address) == WithoutFunction(b.place.pci_address)) {
    return Distance::kSwitch;
  }
  const auto [end, other_end] = std::ranges::mismatch(a.bridges, b.bridges);
  const auto shared = end - a.bridges.begin();
  if (shared == 0) return Distance::kUnknown;
  // The first bridge is the host bridge, which is part of a CPU.
  return shared == 1 ? Distance::kNode : Distance::kSwitch;
}

constexpr int kThisThread = 0;

absl::Status AffinityError(absl::string_view call) {
  return absl::UnavailableError(absl::StrCat(call, ": ", std::strerror(errno)));
}

}  // namespace

const Device* Topology::Find(absl::string_view name) const {
  const std::string address = NormalPciAddress(name);
  const auto found = std::ranges::find_if(devices_, [&](const Device& device) {
    return std::ranges::find(device.names, name) != device.names.end() ||
           (!address.empty() && device.place.pci_address == address);
  });
  return found == devices_.end() ? nullptr : &*found;
}

Place Topology::HostMemory() const {
  Place place;
  if (nodes_.size() == 1) place.numa_node = nodes_.front().index;
  return place;
}

Distance Topology::Between(const Place& a, const Place& b) const {
  const Device* device_a = Find(a.pci_address);
  const Device* device_b = Find(b.pci_address);
  if (device_a != nullptr && device_b != nullptr) {
    const Distance distance = OverPci(*device_a, *device_b);
    if (distance != Distance::kUnknown) return distance;
  }
  if (!a.numa_node.has_value() || !b.numa_node.has_value()) return Distance::kUnknown;
  return *a.numa_node == *b.numa_node ? Distance::kNode : Distance::kSystem;
}

std::string NormalPciAddress(absl::string_view text) {
  const std::string copy(text);
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  int read = 0;
  const auto whole = [&] { return read == static_cast<int>(copy.size()) && read > 0; };
  std::sscanf(copy.c_str(), "%x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &read);
  if (!whole()) {
    domain = 0;
    read = 0;
    std::sscanf(copy.c_str(), "%2x:%2x.%1x%n", &bus, &device, &function, &read);
  }
  return whole() ? absl::StrFormat("%04x:%02x:%02x.%x", domain, bus, device, function) : "";
}

absl::Status PinThisThread(const std::vector<int>& cpus) {
  cpu_set_t allowed;
  if (sched_getaffinity(kThisThread, sizeof(allowed), &allowed) != 0) {
    return AffinityError("sched_getaffinity");
  }
  cpu_set_t near;
  CPU_ZERO(&near);
  for (const int cpu : cpus) {
    if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &near);
  }
  if (CPU_COUNT(&near) == 0) {
    return absl::FailedPreconditionError(
        "sched_getaffinity: this thread may use none of these CPUs");
  }
  if (sched_setaffinity(kThisThread, sizeof(near), &near) != 0) {
    return AffinityError("sched_setaffinity");
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::dataplane::topology
