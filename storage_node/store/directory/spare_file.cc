#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/fd.h"
#include "storage_node/store/directory/mark.h"
#include "storage_node/store/directory/spares.h"

namespace tapedeck::storage_node::store::directory {
namespace {

// Between two of them a recording may begin: it waits for no more.
constexpr size_t kStepBytes = 1 << 20;
constexpr size_t kAlignment = 4096;  // of O_DIRECT

constexpr absl::string_view kUnfinished = ".part";

// Past the page cache; where that cannot be, each step is flushed, so that no recording finds a
// disk that is busy with pages of spares.
absl::StatusOr<disk::Fd> OpenUnfinished(const disk::Directory& folder, const std::string& name) {
  auto fd = folder.OpenFile(name, O_WRONLY | O_DIRECT);
  return fd.ok() ? std::move(fd) : folder.OpenFile(name, O_WRONLY | O_DSYNC);
}

}  // namespace

std::string UnfinishedSpare(const std::string& name) { return absl::StrCat(name, kUnfinished); }

bool IsUnfinishedSpare(absl::string_view name) { return absl::EndsWith(name, kUnfinished); }

std::optional<uint64_t> SpareNumber(absl::string_view name) {
  uint64_t number = 0;
  const absl::string_view digits = absl::StripSuffix(name, kUnfinished);
  const bool ours = absl::SimpleAtoi(digits, &number) && absl::StrCat(number) == digits;
  return ours ? std::make_optional(number) : std::nullopt;
}

bool IsOurSpare(const disk::Directory& folder, const std::string& name,
                const std::string& lun_uid) {
  const auto fd = folder.OpenFile(name, O_RDONLY);
  return fd.ok() && IsMarked(*fd, lun_uid);
}

void LogSpareRemoved(const disk::Directory& folder, const std::string& name,
                     absl::string_view why) {
  dataplane::LogEach(dataplane::LogLevel::kInfo, "spares", "spare file removed",
                     {{"path", folder.PathOf(name)}, {"why", std::string(why)}});
}

absl::Status WriteSpare(const disk::Directory& folder, const std::string& lun_uid,
                        const std::string& member, absl::FunctionRef<bool()> go_on,
                        SparePart* part) {
  const std::string name = UnfinishedSpare(part->name);
  const std::string path = folder.PathOf(name);
  if (!part->made) TD_RETURN_IF_ERROR(MakeMarkedFile(folder, name, lun_uid));
  part->made = true;
  TD_ASSIGN_OR_RETURN(const disk::Fd fd, OpenUnfinished(folder, name));
  // All at once: in few extents, or not at all where there is no room.
  if (part->written == 0) TD_RETURN_IF_ERROR(disk::Allocate(fd, 0, part->bytes, path, member));
  std::vector<std::byte> memory(kStepBytes + kAlignment);
  void* start = memory.data();
  size_t space = memory.size();
  std::align(kAlignment, kStepBytes, start, space);
  const std::span<const std::byte> zeros(static_cast<const std::byte*>(start), kStepBytes);
  while (part->written < part->bytes && go_on()) {
    const auto step = zeros.first(std::min<uint64_t>(kStepBytes, part->bytes - part->written));
    TD_RETURN_IF_ERROR(disk::WriteAll(fd, step, part->written, path, member));
    part->written += step.size();
  }
  if (part->written < part->bytes) return absl::OkStatus();
  if (fdatasync(fd.get()) != 0) return disk::IoError("fdatasync", path, member, errno);
  return folder.Rename(name, folder, part->name);
}

}  // namespace tapedeck::storage_node::store::directory
