#include "dataplane/topology/distance.h"

#include <algorithm>

namespace tapedeck::dataplane::topology {

uint32_t Weight(Distance distance) {
  switch (distance) {
    case Distance::kSwitch:
      return 1;
    case Distance::kNode:
      return 5;
    case Distance::kSystem:
    case Distance::kUnknown:
      break;
  }
  return 10;
}

std::vector<std::string> ChooseRails(const std::vector<RailDistance>& distances) {
  const auto nearest = std::ranges::min_element(distances, {}, &RailDistance::distance);
  std::vector<std::string> rails;
  for (const RailDistance& to : distances) {
    if (to.distance == nearest->distance) rails.push_back(to.rail);
  }
  return rails;
}

}  // namespace tapedeck::dataplane::topology
