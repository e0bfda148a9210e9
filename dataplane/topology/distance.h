// How far two things of one machine are from each other, and which rails are nearest to memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tapedeck::dataplane::topology {

// From near to far, so that the smaller one is the nearer.
enum class Distance {
  kSwitch = 1,   // one PCI device, or below one PCI switch or root port: no CPU between them
  kNode = 2,     // one host bridge or NUMA node: through that CPU
  kSystem = 3,   // different NUMA nodes: over the link between CPUs
  kUnknown = 4,  // one of them has no known place
};

// How much dearer a transfer counts: 1, 5 or 10. What is unknown counts like the farthest.
uint32_t Weight(Distance distance);

struct RailDistance {
  std::string rail;
  Distance distance = Distance::kUnknown;
};

// The rails of the least distance that occurs, in their order. A rail without a known distance is
// chosen only where no rail has one; then all are.
std::vector<std::string> ChooseRails(const std::vector<RailDistance>& distances);

}  // namespace tapedeck::dataplane::topology
