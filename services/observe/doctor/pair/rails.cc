// Rails that only one node has.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/observe/doctor/pair/report.h"

namespace tapedeck::services::doctor::pair {
namespace {

void CheckEach(const NodeReport& of, const NodeReport& other, Findings& findings) {
  for (const RailFacts& rail : of.rails) {
    const bool there = std::ranges::any_of(other.rails, [&rail](const RailFacts& each) {
      return each.name == rail.name && each.transport == rail.transport;
    });
    if (there) continue;
    findings.push_back(
        Found("RAIL_UNKNOWN", absl::StrCat("rail ", rail.name, " over ", rail.transport, " of the ",
                                           of.role, " has none at the ", other.role)));
  }
}

}  // namespace

void CheckRails(const NodeReport& storage, const NodeReport& worker, Findings& findings) {
  CheckEach(storage, worker, findings);
  CheckEach(worker, storage, findings);
}

}  // namespace tapedeck::services::doctor::pair
