// Whether the GPU's window for network cards (BAR1) has room for a ring.
#include "absl/strings/str_cat.h"
#include "gpu_worker/doctor/checks.h"

namespace tapedeck::gpu_worker::doctor {

void CheckWindow(const DeviceFacts& facts, Findings& findings) {
  // Only network cards need the window.
  if (facts.rdma_rails.empty() || facts.room.ok()) return;
  findings.push_back(Found("BAR1_EXHAUSTED", absl::StrCat(facts.name, ": ", facts.room.message())));
}

}  // namespace tapedeck::gpu_worker::doctor
