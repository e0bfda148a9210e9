// How much room each LUN has left, by its capacity and on its file systems, and for how long.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "storage_node/doctor/checks.h"
#include "storage_node/luns/disk_space.h"

namespace tapedeck::storage_node::doctor {
namespace {

constexpr uint64_t kUnlimited = UINT64_MAX;
constexpr double kShortS = 600;
constexpr uint64_t kNearlyFullShare = 10;  // one in

struct FreeSpace {
  uint64_t left = kUnlimited;
  uint64_t whole = kUnlimited;
};

// The lesser of what the two leave.
FreeSpace Lesser(const FreeSpace& a, const FreeSpace& b) { return b.left < a.left ? b : a; }

FreeSpace ByCapacity(const LunFacts& lun) {
  if (lun.limit_bytes == 0) return {};
  return {lun.limit_bytes - std::min(lun.limit_bytes, lun.used_bytes), lun.limit_bytes};
}

FreeSpace OnDisks(const LunFacts& lun) {
  const auto space = luns::SpaceOf(lun.config);
  return space.has_value() ? FreeSpace{space->free_bytes, space->total_bytes} : FreeSpace{};
}

}  // namespace

void CheckFreeSpace(const LunFacts& lun, Findings& findings) {
  if (!lun.offline.ok()) return;
  const FreeSpace disks = OnDisks(lun);
  // A ring makes room itself, within its capacity.
  const bool ring = lun.config.full_policy == services::FullPolicy::kRing;
  if (ring && lun.limit_bytes <= disks.whole) return;
  const FreeSpace free = Lesser(ByCapacity(lun), disks);
  if (free.left == kUnlimited) return;
  const std::string what =
      absl::StrFormat("%s: %.1f of %.1f MB are left", lun.config.name,
                      static_cast<double>(free.left) / 1e6, static_cast<double>(free.whole) / 1e6);
  const double seconds = lun.written_bytes_per_s > 0
                             ? static_cast<double>(free.left) / lun.written_bytes_per_s
                             : kShortS;
  if (free.left < lun.least_bytes) {
    findings.push_back(Found("LUN_FULL", absl::StrCat(what, "; a recording takes at least ",
                                                      lun.least_bytes, " bytes")));
  } else if (seconds < kShortS) {
    findings.push_back(
        Found("LUN_NEARLY_FULL", absl::StrFormat("%s: full in %.0f s at the recent %s MB/s", what,
                                                 seconds, MegabytesOf(lun.written_bytes_per_s))));
  } else if (free.left < free.whole / kNearlyFullShare) {
    findings.push_back(Found("LUN_NEARLY_FULL", what));
  }
}

}  // namespace tapedeck::storage_node::doctor
