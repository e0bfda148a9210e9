#include "services/tapectl/program/load.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::tapectl {

double LoadMeter::RateOf(const std::string& name, uint64_t bytes, double at_first) {
  next_[name] = bytes;
  const auto before = last_.find(name);
  if (before == last_.end() || seconds_ <= 0) return at_first;
  if (bytes < before->second) return 0;
  return static_cast<double>(bytes - before->second) / 1e6 / seconds_;
}

Load LoadMeter::Look(const std::vector<Job>& jobs, const std::vector<Lun>& luns, absl::Time now) {
  seconds_ = last_time_.has_value() ? absl::ToDoubleSeconds(now - *last_time_) : 0;
  Load load;
  for (const Job& job : jobs) {
    if (model::HasEnded(job)) continue;
    JobLoad one{.job = job};
    one.mb_per_s =
        RateOf(job.name, job.bytes, model::MegabytesPerSecond(job.bytes, job.elapsed_ns));
    for (const auto& rail : job.rails) {
      one.rail_mb_per_s.push_back(RateOf(absl::StrCat(job.name, " ", rail.name), rail.bytes,
                                         model::MegabytesPerSecond(rail.bytes, job.elapsed_ns)));
    }
    load.mb_per_s += one.mb_per_s;
    load.lost_blocks += job.lost_blocks;
    load.jobs.push_back(std::move(one));
  }
  for (const Lun& lun : luns) {
    LunLoad one{.lun = lun, .mb_per_s = RateOf(lun.name, lun.used_bytes, 0)};
    const bool fills = lun.capacity_bytes > lun.used_bytes && one.mb_per_s > 0 &&
                       lun.full_policy != FullPolicy::kRing;
    if (fills) {
      one.until_full = absl::Seconds(static_cast<double>(lun.capacity_bytes - lun.used_bytes) /
                                     1e6 / one.mb_per_s);
    }
    load.luns.push_back(std::move(one));
  }
  last_ = std::exchange(next_, {});
  last_time_ = now;
  return load;
}

}  // namespace tapedeck::services::tapectl
