#include <dirent.h>
#include <sys/resource.h>

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "services/base/errors.h"
#include "services/base/process/surroundings.h"

namespace tapedeck::services {
namespace {

constexpr char kRemedy[] = "raise RLIMIT_NOFILE (ulimit -n, LimitNOFILE=)";

// None: there is no /proc, or no descriptor to read it with.
std::optional<uint64_t> OpenDescriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return std::nullopt;
  uint64_t count = 0;
  while (const dirent* entry = readdir(folder.get())) count += entry->d_name[0] == '.' ? 0 : 1;
  return count - 1;  // the folder's own
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur >= kFewDescriptors) return;
  dataplane::Log(
      dataplane::LogLevel::kWarning, "main",
      absl::StrCat("few file descriptors: sessions are refused when they run out; ", kRemedy),
      {{"limit", absl::StrCat(files.rlim_cur)}, {"wanted", absl::StrCat(kFewDescriptors)}});
}

absl::Status CheckDescriptorsLeft(uint64_t wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) {
    return absl::OkStatus();
  }
  const uint64_t open = OpenDescriptors().value_or(files.rlim_cur);
  if (open + wanted <= files.rlim_cur) return absl::OkStatus();
  return LimitReached(files.rlim_cur, "RLIMIT_NOFILE",
                      absl::StrCat("the process has ", open, " of ", files.rlim_cur,
                                   " file descriptors open, and this would need ", wanted,
                                   "; wait for other work to end, or ", kRemedy));
}

}  // namespace tapedeck::services
