// Rails whose ends are in different networks.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/topology/interfaces.h"
#include "services/observe/doctor/pair/report.h"

namespace tapedeck::services::doctor::pair {
namespace {

std::string AddressOf(const RailFacts& rail) {
  return absl::StrCat(rail.address, "/", rail.prefix_bits);
}

}  // namespace

void CheckSubnets(const NodeReport& storage, const NodeReport& worker, Findings& findings) {
  for (const auto& [ours, theirs] : SharedRails(storage, worker)) {
    // Of an address that no interface has, nothing is known.
    const uint32_t bits = std::min(ours.prefix_bits, theirs.prefix_bits);
    if (bits == 0 ||
        dataplane::topology::SameNetwork(ours.address, theirs.address, static_cast<int>(bits))) {
      continue;
    }
    findings.push_back(
        Found("RAIL_SUBNETS_DIFFER",
              absl::StrCat("rail ", ours.name, " is ", AddressOf(ours), " at the storage node and ",
                           AddressOf(theirs), " at the worker")));
  }
}

}  // namespace tapedeck::services::doctor::pair
