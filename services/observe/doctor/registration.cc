// Whether a session's ring can be registered on all RDMA rails at once, tried with a real one.
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/memory/available.h"
#include "dataplane/memory/host/memory.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {
namespace {

constexpr int kIpcLock = 14;  // CAP_IPC_LOCK, capabilities(7)

bool MayPassTheLimit() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word != "CapEff:") continue;
    uint64_t effective = 0;
    std::string text;
    file >> text;
    return absl::SimpleHexAtoi(text, &effective) && (effective >> kIpcLock & 1) != 0;
  }
  return false;
}

}  // namespace

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

std::string LockLimits() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return absl::StrCat(
      "the limit of locked memory is ",
      limit.rlim_cur == RLIM_INFINITY ? "none" : absl::StrCat(limit.rlim_cur, " bytes"),
      ", and the process ", MayPassTheLimit() ? "has" : "lacks", " the capability IPC_LOCK");
}

absl::Status TryLock(uint64_t bytes) {
  if (dataplane::AvailableBytes() < bytes + dataplane::kKeptFreeBytes) return absl::OkStatus();
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return absl::OkStatus();
  const int error = mlock(memory, bytes) == 0 ? 0 : errno;
  munmap(memory, bytes);
  if (error == 0) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("mlock of ", bytes, " bytes: ", std::strerror(error), ": ", LockLimits()));
}

}  // namespace tapedeck::services::doctor
