#include "storage_node/luns/disk_space.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::luns {
namespace {

// A file system may say more than there is.
uint64_t Times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

std::string Text(uint64_t bytes) {
  constexpr uint64_t kMB = 1'000'000;
  if (bytes < 1000 * kMB) return absl::StrFormat("%.2f MB", static_cast<double>(bytes) / kMB);
  if (bytes < 1'000'000 * kMB) return absl::StrFormat("%.2f GB", static_cast<double>(bytes) / 1e9);
  return absl::StrFormat("%.2f TB", static_cast<double>(bytes) / 1e12);
}

// The directories of a LUN, by the file system that they lie on.
std::map<dev_t, std::vector<std::string>> DirectoriesOf(const services::Lun& lun) {
  std::map<dev_t, std::vector<std::string>> directories;
  for (const std::string& member : lun.members) {
    struct stat what {};
    if (!store::IsMemberPath(member) || stat(member.c_str(), &what) != 0) continue;
    if (S_ISDIR(what.st_mode)) directories[what.st_dev].push_back(member);
  }
  return directories;
}

}  // namespace

std::optional<DiskSpace> SpaceOf(const services::Lun& lun) {
  std::optional<DiskSpace> least;
  for (const auto& [device, members] : DirectoriesOf(lun)) {
    struct statvfs disk {};
    // Without blocks it does not tell.
    if (statvfs(members.front().c_str(), &disk) != 0 || disk.f_blocks == 0) continue;
    const auto usable = [&, share = members.size()](uint64_t blocks) {
      return Times(Times(blocks, disk.f_frsize) / share, lun.striped_members());
    };
    const uint64_t free = usable(disk.f_bavail), total = usable(disk.f_blocks);
    if (!least.has_value())
      least = {.free_bytes = free, .total_bytes = total, .member = members[0]};
    if (free < least->free_bytes) least->member = members[0];
    least->free_bytes = std::min(least->free_bytes, free);
    least->total_bytes = std::min(least->total_bytes, total);
  }
  return least;
}

std::string Shortage(uint64_t capacity_bytes, const std::optional<DiskSpace>& space) {
  if (!space.has_value() || capacity_bytes <= space->total_bytes) return "";
  return absl::StrCat("its capacity is ", Text(capacity_bytes), ", and its file systems have ",
                      Text(space->total_bytes), ": recordings end when these are full");
}

absl::Status CheckFree(const services::Lun& lun, uint64_t bytes, uint64_t used_bytes,
                       const std::optional<DiskSpace>& space) {
  if (!space.has_value()) return absl::OkStatus();
  const uint64_t kept = Times(Times(lun.prewrite_files, lun.prewrite_bytes), lun.striped_members());
  if (bytes <= space->free_bytes || bytes - space->free_bytes <= kept) return absl::OkStatus();
  const absl::Status full = disk::MemberFull(
      space->member, absl::StrCat(lun.name, ": the recording needs ", Text(bytes), ", and ",
                                  Text(space->free_bytes),
                                  " are free on the file systems of the LUN; not started"));
  const uint64_t lacking = bytes - space->free_bytes - kept;
  return lacking > used_bytes ? disk::Lacking(full, "disk") : full;
}

}  // namespace tapedeck::storage_node::luns
