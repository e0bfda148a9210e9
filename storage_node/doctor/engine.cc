// Whether payload reaches disks as fast as it could: by io_uring, from rings that it may lock.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/observe/doctor/checks.h"
#include "storage_node/doctor/checks.h"
#include "storage_node/engine/uring_engine.h"
#include "storage_node/store/list.h"

namespace tapedeck::storage_node::doctor {

void CheckEngine(const std::vector<LunFacts>& luns, uint64_t ring_bytes, Findings& findings) {
  const auto engine = engine::UringEngine::Create("td-doctor");
  if (absl::IsUnavailable(engine.status())) {
    findings.push_back(Found("IO_URING_BLOCKED", std::string(engine.status().message())));
    return;
  }
  const bool locks = std::ranges::any_of(luns, [](const LunFacts& lun) {
    const auto kind = store::FindStoreKind(lun.config.store);
    return kind.ok() && kind->capabilities.locks_rings;
  });
  if (!locks) return;
  const absl::Status locked = services::doctor::TryLock(ring_bytes);
  if (locked.ok()) return;
  services::doctor::Finding finding = Found(
      "MEMLOCK_TOO_LOW", services::doctor::Severity::kWarning,
      absl::StrCat("a session's ring cannot be registered with io_uring: ", locked.message()));
  finding.why = "each transfer of direct and device LUNs pins its pages again";
  findings.push_back(std::move(finding));
}

}  // namespace tapedeck::storage_node::doctor
