#include "services/daemon/placement.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/topology/interfaces.h"
#include "dataplane/topology/topology.h"

namespace tapedeck::services {

using dataplane::Log;
using dataplane::LogLevel;
using dataplane::topology::Place;
using dataplane::topology::Topology;

namespace {

std::string NodeText(const Place& place) {
  return place.numa_node.has_value() ? absl::StrCat(*place.numa_node) : "unknown";
}

void LogPlace(const NodeRail& rail) {
  if (rail.place.pci_address.empty()) {
    Log(LogLevel::kInfo, "topology", "rail has no known place: its distances are UNKNOWN",
        {{"rail", rail.rail.name}, {"interface", rail.rail.device}});
    return;
  }
  Log(LogLevel::kInfo, "topology", "rail placed",
      {{"rail", rail.rail.name},
       {"interface", rail.rail.device},
       {"pci", rail.place.pci_address},
       {"numa_node", NodeText(rail.place)}});
}

// On the poller's thread.
void Pin(const std::string& rail, const dataplane::topology::NumaNode& node) {
  const absl::Status status = dataplane::topology::PinThisThread(node.cpus);
  if (status.ok()) {
    Log(LogLevel::kInfo, "topology", "poller runs near its port",
        {{"rail", rail}, {"numa_node", absl::StrCat(node.index)}});
  } else {
    Log(LogLevel::kWarning, "topology", "poller does not run near its port",
        {{"rail", rail},
         {"numa_node", absl::StrCat(node.index)},
         {"cause", std::string(status.message())}});
  }
}

}  // namespace

NodeRail PlaceRail(const Topology& topology, dataplane::RailDescription rail) {
  const std::string interface = dataplane::topology::InterfaceOf(rail.address);
  if (rail.device.empty()) rail.device = interface;
  // Of an RDMA port, "mlx5_0/1", the device. It is looked for first: in a container it may be there
  // where the interface is a virtual one.
  const auto* port = topology.Find(rail.device.substr(0, rail.device.find('/')));
  for (std::string name = interface; port == nullptr && !name.empty();
       name = dataplane::topology::InterfaceBelow(name)) {
    port = topology.Find(name);
  }
  return {.rail = std::move(rail), .place = port == nullptr ? Place() : port->place};
}

Placement Placement::Discover(const std::vector<dataplane::Transport*>& rails) {
  absl::StatusOr<Topology> topology = Topology::Discover();
  if (!topology.ok()) {
    Log(LogLevel::kWarning, "topology", "not known: every distance is UNKNOWN",
        {{"cause", std::string(topology.status().message())}});
    topology = Topology();
  }
  std::vector<NodeRail> placed;
  for (const dataplane::Transport* rail : rails) {
    placed.push_back(PlaceRail(*topology, rail->rail()));
    LogPlace(placed.back());
  }
  return Placement(*std::move(topology), std::move(placed));
}

MemoryKindInfo Placement::At(const Place& place, MemoryKindInfo memory) const {
  memory.place = place;
  for (const NodeRail& rail : rails_) {
    memory.distances.push_back({rail.rail.name, topology_.Between(place, rail.place)});
  }
  return memory;
}

MemoryKindInfo Placement::HostMemory() const {
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  return At(topology_.HostMemory(), {.device = "host",
                                     .description = "host memory",
                                     .bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)),
                                     .status = "usable"});
}

MemoryKindInfo Placement::GpuMemory(MemoryKindInfo memory, const std::string& pci_address) const {
  const auto* gpu = topology_.Find(pci_address);
  if (gpu != nullptr) return At(gpu->place, std::move(memory));
  return At({.pci_address = dataplane::topology::NormalPciAddress(pci_address)}, std::move(memory));
}

void Placement::PinPollers(const std::vector<dataplane::Transport*>& rails) const {
  if (topology_.nodes().size() < 2) return;
  for (dataplane::Transport* transport : rails) {
    const std::string& name = transport->rail().name;
    const auto rail =
        std::ranges::find(rails_, name, [](const NodeRail& r) { return r.rail.name; });
    if (rail == rails_.end() || !rail->place.numa_node.has_value()) continue;
    const auto node = std::ranges::find(topology_.nodes(), *rail->place.numa_node,
                                        &dataplane::topology::NumaNode::index);
    if (node == topology_.nodes().end()) continue;
    for (dataplane::Executor* poller : transport->pollers()) {
      poller->Post([name, node = *node] { Pin(name, node); });
    }
  }
}

}  // namespace tapedeck::services
