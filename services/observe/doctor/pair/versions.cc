// Whether the nodes understand each other.
#include "absl/strings/str_cat.h"
#include "services/observe/doctor/pair/report.h"

namespace tapedeck::services::doctor::pair {

void CheckVersions(const NodeReport& storage, const NodeReport& worker, Findings& findings) {
  if (storage.protocol_version == worker.protocol_version) return;
  findings.push_back(Found(
      "VERSION_MISMATCH", absl::StrCat("the storage node speaks version ", storage.protocol_version,
                                       " of the session protocol, the "
                                       "worker ",
                                       worker.protocol_version)));
}

}  // namespace tapedeck::services::doctor::pair
