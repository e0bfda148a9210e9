// Where this node's rails and memory sit in its machine: what GetNode publishes, and what the
// choice of a job's rails reads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dataplane/topology/distance.h"
#include "dataplane/topology/topology.h"
#include "dataplane/transport/transport.h"
#include "services/model/seams/node.h"

namespace tapedeck::services {

// The rail with its port's place and, where it names no device, its interface, as far as they can
// be found.
NodeRail PlaceRail(const dataplane::topology::Topology& topology, dataplane::RailDescription rail);

// Made at start, then immutable: any thread.
class Placement {
 public:
  // Asks the system. What it cannot tell is UNKNOWN, and the log says so.
  static Placement Discover(const std::vector<dataplane::Transport*>& rails);

  Placement(dataplane::topology::Topology topology, std::vector<NodeRail> rails)
      : topology_(std::move(topology)), rails_(std::move(rails)) {}

  const std::vector<NodeRail>& rails() const { return rails_; }

  // The machine's own memory, for GetNode.
  MemoryKindInfo HostMemory() const;

  // `memory` with the place and distances of a GPU's, by its PCI address.
  MemoryKindInfo GpuMemory(MemoryKindInfo memory, const std::string& pci_address) const;

  // Keeps each rail's pollers on the processors of its port's NUMA node. Nothing where the node is
  // not known or the machine has one only.
  void PinPollers(const std::vector<dataplane::Transport*>& rails) const;

 private:
  MemoryKindInfo At(const dataplane::topology::Place& place, MemoryKindInfo memory) const;

  dataplane::topology::Topology topology_;
  std::vector<NodeRail> rails_;
};

}  // namespace tapedeck::services
