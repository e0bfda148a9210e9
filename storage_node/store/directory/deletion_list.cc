#include "storage_node/store/directory/deletion_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/words/resource_name.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::store::directory {
namespace {

constexpr uint64_t kMaxListBytes = 8 << 20;

}  // namespace

absl::Status AppendDeleted(const disk::Directory& config, const store::RecordingPath& path) {
  TD_ASSIGN_OR_RETURN(const disk::Fd fd, config.OpenFile(kDeletionListFile, O_WRONLY | O_CREAT));
  const std::string file = config.PathOf(kDeletionListFile);
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return disk::IoError("fstat", file, config.member(), errno);
  const auto end = static_cast<uint64_t>(status.st_size);
  if (end >= kMaxListBytes) {
    return services::LimitReached(
        kMaxListBytes, "bytes of a list of deleted recordings",
        absl::StrCat(file, " is full; scrub the LUN with both copies there"));
  }
  const std::string line = absl::StrCat(path.channel, "/", path.recording, "\n");
  TD_RETURN_IF_ERROR(
      disk::WriteAll(fd, std::as_bytes(std::span(line)), end, file, config.member()));
  if (fdatasync(fd.get()) != 0) return disk::IoError("fdatasync", file, config.member(), errno);
  return end == 0 ? config.Sync() : absl::OkStatus();
}

absl::StatusOr<std::set<store::RecordingPath>> ReadDeleted(const disk::Directory& config) {
  std::set<store::RecordingPath> paths;
  const auto text = config.ReadFile(kDeletionListFile, 2 * kMaxListBytes);
  if (absl::IsNotFound(text.status())) return paths;
  TD_RETURN_IF_ERROR(text.status());
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::pair<std::string, std::string> ids = absl::StrSplit(line, absl::MaxSplits('/', 1));
    if (!services::CheckId(ids.first).ok() || !services::CheckId(ids.second).ok()) continue;
    paths.insert({.channel = ids.first, .recording = ids.second});
  }
  return paths;
}

}  // namespace tapedeck::storage_node::store::directory
