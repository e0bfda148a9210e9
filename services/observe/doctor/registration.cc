// Whether a session's ring can be registered on all RDMA rails at once, tried with a real one.
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/host/memory.h"
#include "services/observe/doctor/checks.h"
#include "services/observe/doctor/lock.h"

namespace tapedeck::services::doctor {

void CheckRegistration(const Scene& scene, const Request& /*request*/, Findings& findings) {
  std::vector<dataplane::Transport*> ports;
  for (dataplane::Transport* port : scene.ports) {
    if (port->rail().transport == "verbs") ports.push_back(port);
  }
  if (ports.empty()) return;
  const auto ring = dataplane::host::Create(scene.ring_bytes);
  if (!ring.ok()) return;  // told by the check of memory
  std::vector<std::unique_ptr<dataplane::Domain>> domains;
  for (dataplane::Transport* port : ports) {
    auto domain = port->OpenDomain((*ring)->window(), dataplane::RemoteAccess::kRead);
    if (domain.ok()) {
      domains.push_back(*std::move(domain));
      continue;
    }
    Finding finding =
        FoundError(domain.status(), "RDMA_FAILED",
                   absl::StrCat("rail ", port->rail().name, ": a ring of ", scene.ring_bytes >> 20,
                                " MiB, registered on ", ports.size(), " rails"));
    if (finding.code == "MEMLOCK_TOO_LOW") absl::StrAppend(&finding.what, "; ", LockLimits());
    findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace tapedeck::services::doctor
