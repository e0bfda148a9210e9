#include "dataplane/memory/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane {

namespace {

constexpr size_t kStepBytes = size_t{32} << 20;

absl::Status FaultIn(std::span<std::byte> bytes) {
  if (madvise(bytes.data(), bytes.size(), MADV_POPULATE_WRITE) == 0) return absl::OkStatus();
  if (errno != EINVAL) {
    return LimitReached(
        "pages", "memory",
        absl::StrCat("madvise: no pages for ", bytes.size(), " bytes: ", std::strerror(errno),
                     "; end other sessions, or give the machine more memory"));
  }
  // Kernels before 5.14.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < bytes.size(); i += page) {
    *const_cast<volatile std::byte*>(&bytes[i]) = std::byte{0};
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeResident(std::span<std::byte> bytes, const OnResident& on_resident) {
  madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);  // advice: without huge pages it still works
  for (size_t done = 0; done < bytes.size();) {
    const auto step = bytes.subspan(done, std::min(kStepBytes, bytes.size() - done));
    TD_RETURN_IF_ERROR(FaultIn(step));
    done += step.size();
    if (on_resident && !on_resident(done, bytes.size())) {
      return absl::CancelledError("the request for this memory was withdrawn");
    }
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::dataplane
