// What each disk can take against what the channels on it would bring at their full rates.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "storage_node/doctor/checks.h"
#include "storage_node/doctor/disk_rate.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::doctor {
namespace {

// Each takes up to two seconds.
constexpr size_t kMostDisks = 16;

struct Disk {
  std::string member;                  // one of those on it
  std::map<std::string, double> asks;  // bytes per second, by LUN
};

// The name of the disk that a member lies on, the same for all partitions of one; empty: it is not
// there.
std::string DiskOf(const std::string& member) {
  struct stat what {};
  if (!store::IsMemberPath(member) || stat(member.c_str(), &what) != 0) return "";
  const dev_t device = S_ISBLK(what.st_mode) ? what.st_rdev : what.st_dev;
  const std::string number = absl::StrCat(major(device), ":", minor(device));
  std::error_code error;
  const std::filesystem::path link("/sys/dev/block/" + number);
  const std::filesystem::path place = std::filesystem::canonical(link, error);
  if (error) return number;
  return std::filesystem::exists(place / "partition", error) ? place.parent_path().filename()
                                                             : place.filename();
}

std::map<std::string, Disk> DisksOf(const std::vector<LunFacts>& luns) {
  std::map<std::string, Disk> disks;
  for (const LunFacts& lun : luns) {
    const double asks = BytesPerS(lun) / static_cast<double>(lun.config.members.size());
    for (const std::string& member : lun.config.members) {
      const std::string name = lun.offline.ok() && asks > 0 ? DiskOf(member) : "";
      if (name.empty()) continue;
      Disk& disk = disks[name];
      if (disk.member.empty()) disk.member = member;
      disk.asks[lun.config.name] += asks;
    }
  }
  return disks;
}

void Judge(const std::string& name, const Disk& disk, double rate, Findings& findings) {
  double sum = 0, most = 0;
  for (const auto& [lun, asks] : disk.asks) {
    sum += asks;
    most = std::max(most, asks);
  }
  if (sum <= rate) return;
  const std::string what = absl::StrFormat(
      "%s (disk of %s) moves %s MB/s, and the channels of %s can bring %s MB/s", name, disk.member,
      MegabytesOf(rate),
      absl::StrJoin(disk.asks, ", ",
                    [](std::string* out, const auto& entry) { absl::StrAppend(out, entry.first); }),
      MegabytesOf(sum));
  const bool shared = disk.asks.size() > 1 && most <= rate;
  findings.push_back(shared ? Found("LUNS_SHARE_DISK", what) : Found("DISK_TOO_SLOW", what));
}

}  // namespace

void CheckDisks(const std::vector<LunFacts>& luns, const Request& request, Findings& findings) {
  if (!request.measure) return;
  size_t measured = 0;
  for (const auto& [name, disk] : DisksOf(luns)) {
    if (++measured > kMostDisks) return;
    const auto rate = MeasureRate(disk.member);
    if (rate.ok()) Judge(name, disk, *rate, findings);
  }
}

}  // namespace tapedeck::storage_node::doctor
