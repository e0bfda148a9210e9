#include "dataplane/topology/pin.h"

#include <sched.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tapedeck::dataplane::topology {
namespace {

constexpr int kThisThread = 0;

absl::Status AffinityError(absl::string_view call) {
  return absl::UnavailableError(absl::StrCat(call, ": ", std::strerror(errno)));
}

}  // namespace

absl::Status PinThisThread(const std::vector<int>& cpus) {
  cpu_set_t allowed;
  if (sched_getaffinity(kThisThread, sizeof(allowed), &allowed) != 0) {
    return AffinityError("sched_getaffinity");
  }
  cpu_set_t near;
  CPU_ZERO(&near);
  for (const int cpu : cpus) {
    if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &near);
  }
  if (CPU_COUNT(&near) == 0) {
    return absl::FailedPreconditionError("sched_getaffinity: this thread may use none of them");
  }
  if (sched_setaffinity(kThisThread, sizeof(near), &near) != 0) {
    return AffinityError("sched_setaffinity");
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::dataplane::topology
