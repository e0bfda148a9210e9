// Ports of one rail that do not fit each other.
#include "absl/strings/str_cat.h"
#include "services/observe/doctor/pair/report.h"

namespace tapedeck::services::doctor::pair {

void CheckPorts(const NodeReport& storage, const NodeReport& worker, Findings& findings) {
  for (const auto& [ours, theirs] : SharedRails(storage, worker)) {
    const bool mtus_known = ours.mtu_bytes != 0 && theirs.mtu_bytes != 0;
    if (mtus_known && ours.mtu_bytes != theirs.mtu_bytes) {
      findings.push_back(
          Found("PATH_MTU_MISMATCH",
                absl::StrCat("rail ", ours.name, ": the storage node's port has MTU ",
                             ours.mtu_bytes, ", the worker's ", theirs.mtu_bytes)));
    }
    const bool speeds_known = ours.bits_per_s != 0 && theirs.bits_per_s != 0;
    if (speeds_known && ours.bits_per_s != theirs.bits_per_s) {
      findings.push_back(Found("RAIL_SPEEDS_DIFFER",
                               absl::StrCat("rail ", ours.name, ": the storage node's port has ",
                                            ours.bits_per_s / 1'000'000, " Mb/s, the worker's ",
                                            theirs.bits_per_s / 1'000'000)));
    }
  }
}

}  // namespace tapedeck::services::doctor::pair
