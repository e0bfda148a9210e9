#include "dataplane/memory/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"

namespace tapedeck::dataplane {

absl::Status MakeResident(std::span<std::byte> bytes) {
  madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);  // advice: without huge pages it still works
  if (madvise(bytes.data(), bytes.size(), MADV_POPULATE_WRITE) == 0) return absl::OkStatus();
  if (errno != EINVAL) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          "madvise: no pages for ", bytes.size(), " bytes: ", std::strerror(errno),
                          "; end other sessions, or give the machine more memory")),
                      "LIMIT_REACHED", {{"limit", "pages"}, {"option", "memory"}});
  }
  // Kernels before 5.14.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < bytes.size(); i += page) {
    *const_cast<volatile std::byte*>(&bytes[i]) = std::byte{0};
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::dataplane
