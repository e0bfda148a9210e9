// Whether any rail's port is near the GPU.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gpu_worker/doctor/checks.h"

namespace tapedeck::gpu_worker::doctor {

void CheckDistances(const DeviceFacts& facts, Findings& findings) {
  using dataplane::topology::Distance;
  const bool far = std::ranges::all_of(
      facts.distances, [](const auto& to) { return to.distance == Distance::kSystem; });
  if (facts.on_host || facts.distances.empty() || !far) return;
  const auto name = [](std::string* out, const auto& to) { absl::StrAppend(out, to.rail); };
  findings.push_back(Found("GPU_NIC_FAR", absl::StrCat(facts.name, " and the ports of its rails ",
                                                       absl::StrJoin(facts.distances, ", ", name),
                                                       " are on different NUMA nodes")));
}

}  // namespace tapedeck::gpu_worker::doctor
