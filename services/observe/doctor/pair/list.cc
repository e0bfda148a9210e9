#include "absl/strings/str_cat.h"
#include "services/observe/doctor/pair/report.h"

namespace tapedeck::services::doctor::pair {
namespace {

using PairCheck = void (*)(const NodeReport&, const NodeReport&, Findings&);

constexpr PairCheck kPairChecks[] = {CheckVersions, CheckRails, CheckSubnets, CheckPorts,
                                     CheckClocks};

}  // namespace

Findings CheckPair(const NodeReport& storage, const NodeReport& worker) {
  Findings findings;
  for (const PairCheck check : kPairChecks) check(storage, worker, findings);
  for (Finding& finding : findings) finding.node = "pair";
  return findings;
}

std::vector<SharedRail> SharedRails(const NodeReport& storage, const NodeReport& worker) {
  std::vector<SharedRail> shared;
  for (const RailFacts& ours : storage.rails) {
    for (const RailFacts& theirs : worker.rails) {
      if (ours.name == theirs.name && ours.transport == theirs.transport) {
        shared.push_back({ours, theirs});
      }
    }
  }
  return shared;
}

// Whether the nodes understand each other.
void CheckVersions(const NodeReport& storage, const NodeReport& worker, Findings& findings) {
  if (storage.protocol_version == worker.protocol_version) return;
  findings.push_back(Found(
      "VERSION_MISMATCH", absl::StrCat("the storage node speaks version ", storage.protocol_version,
                                       " of the session protocol, the "
                                       "worker ",
                                       worker.protocol_version)));
}

}  // namespace tapedeck::services::doctor::pair
