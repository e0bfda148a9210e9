// Whether jobs compute on a GPU where one was to be found, and whether it still works.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gpu_worker/doctor/checks.h"

namespace tapedeck::gpu_worker::doctor {

void CheckDevice(const DeviceFacts& facts, Findings& findings) {
  if (!facts.health.ok()) {
    findings.push_back(Found("DEVICE_FAILED", std::string(facts.health.message())));
  }
  // What `auto` has tried in vain stands behind it.
  if (!facts.on_host || !absl::StartsWith(facts.why, "auto: no ")) return;
  findings.push_back(
      Found("DEVICE_UNUSABLE", absl::StrCat("jobs compute on ", facts.name, "; ", facts.why)));
}

}  // namespace tapedeck::gpu_worker::doctor
