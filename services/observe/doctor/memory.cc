// Whether the machine has what the node promises to take.
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
  findings.push_back(Found(
      "MEMORY_SHORT", absl::StrFormat("%d MiB are available; %s and %d MiB "
                                      "for the process itself are more",
                                      available >> 20, parts, dataplane::kKeptFreeBytes >> 20)));
}

}  // namespace tapedeck::services::doctor
