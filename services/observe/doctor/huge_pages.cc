// Whether rings may lie in huge pages, which they ask for.
#include "absl/strings/match.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {

void CheckHugePages(const Scene& scene, const Request& /*request*/, Findings& findings) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!absl::StrContains(TextIn(scene, path), "[never]")) return;
  findings.push_back(Found("HUGE_PAGES_OFF", path + " says never"));
}

}  // namespace tapedeck::services::doctor
