// Whether the machine has the memory that the node promises to take, and whether rings may lie in
// huge pages, which they ask for.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/memory/available.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {

void CheckMemory(const Scene& scene, const Request& /*request*/, Findings& findings) {
  uint64_t need = scene.ring_bytes;
  std::string parts = absl::StrCat("a session's ring ", scene.ring_bytes >> 20, " MiB");
  for (const PromisedMemory& promised : scene.promised) {
    need += promised.bytes;
    absl::StrAppend(&parts, ", ", promised.what, " ", promised.bytes >> 20, " MiB");
  }
  const uint64_t available = dataplane::AvailableBytes(scene.root);
  if (need + dataplane::kKeptFreeBytes <= available) return;
  findings.push_back(
      Found("MEMORY_SHORT",
            absl::StrFormat("%d MiB are available; %s and %d MiB for the process itself need more",
                            available >> 20, parts, dataplane::kKeptFreeBytes >> 20)));
}

void CheckHugePages(const Scene& scene, const Request& /*request*/, Findings& findings) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!absl::StrContains(TextIn(scene, path), "[never]")) return;
  findings.push_back(Found("HUGE_PAGES_OFF", path + " says never"));
}

}  // namespace tapedeck::services::doctor
