#include "gpu_worker/doctor/checks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/model/words/names.h"

namespace tapedeck::gpu_worker::doctor {
namespace {

using Look = void (*)(const DeviceFacts&, Findings&);

constexpr Look kLooks[] = {CheckDevice, CheckDistances, CheckWindow, CheckRungs};

}  // namespace

// Whether jobs compute on a GPU where one was to be found, and whether it still works.
void CheckDevice(const DeviceFacts& facts, Findings& findings) {
  if (!facts.health.ok()) {
    findings.push_back(Found("DEVICE_FAILED", std::string(facts.health.message())));
  }
  // What `auto` has tried in vain stands behind it.
  if (!facts.on_host || !absl::StartsWith(facts.why, "auto: no ")) return;
  findings.push_back(
      Found("DEVICE_UNUSABLE", absl::StrCat("jobs compute on ", facts.name, "; ", facts.why)));
}

// Whether any rail's port is near the GPU.
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

// Whether the GPU's window for network cards (BAR1) has room for a ring.
void CheckWindow(const DeviceFacts& facts, Findings& findings) {
  // Only network cards need the window.
  if (facts.rdma_rails.empty() || facts.room.ok()) return;
  findings.push_back(Found("BAR1_EXHAUSTED", absl::StrCat(facts.name, ": ", facts.room.message())));
}

// By which way each RDMA rail reaches the GPU's memory, as the probes found in each direction.
void CheckRungs(const DeviceFacts& facts, Findings& findings) {
  using dataplane::ladder::Rung;
  for (const auto& [rail, direction, choice] : facts.rungs) {
    const bool rdma = std::ranges::find(facts.rdma_rails, rail) != facts.rdma_rails.end();
    if (!rdma || choice.rung == Rung::kDmaBuf) continue;
    const std::string what =
        absl::StrCat(facts.name, ", rail ", rail, ", ", services::model::LabelOf(direction), ": ",
                     dataplane::ladder::NameOf(choice.rung), ": ", choice.why);
    findings.push_back(choice.rung == Rung::kBounce ? Found("GPU_MEMORY_NOT_REGISTRABLE", what)
                                                    : Found("PEERMEM_USED", what));
  }
}

services::doctor::Check DeviceCheck(absl::string_view name, std::function<DeviceFacts()> facts) {
  return {.name = absl::StrCat("device ", name),
          .run = [facts = std::move(facts)](const services::doctor::Request& /*request*/,
                                            Findings& findings) {
            const DeviceFacts device = facts();
            for (const Look look : kLooks) look(device, findings);
          }};
}

}  // namespace tapedeck::gpu_worker::doctor
