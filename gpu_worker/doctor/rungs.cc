// By which way each RDMA rail reaches the GPU's memory, as the probes found in each direction.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gpu_worker/doctor/checks.h"
#include "services/model/words/names.h"

namespace tapedeck::gpu_worker::doctor {

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

}  // namespace tapedeck::gpu_worker::doctor
