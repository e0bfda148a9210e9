// What runs now and how fast, from one look at the nodes to the next. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "services/model/lun.h"
#include "services/model/seams/jobs.h"

namespace tapedeck::services::tapectl {

struct JobLoad {
  Job job;
  double mb_per_s = 0;                // since the last look; at the first since it began
  std::vector<double> rail_mb_per_s;  // of each of its rails
};

struct LunLoad {
  Lun lun;
  double mb_per_s = 0;                       // that its used room grows
  std::optional<absl::Duration> until_full;  // at this rate; none: it does not fill up
};

struct Load {
  int64_t time_ns = 0;        // of the look, since the Unix epoch
  std::vector<JobLoad> jobs;  // those that have not ended
  std::vector<LunLoad> luns;
  double mb_per_s = 0;  // of all jobs
  uint64_t lost_blocks = 0;
};

class LoadMeter {
 public:
  // `now` only grows.
  Load Look(const std::vector<Job>& jobs, const std::vector<Lun>& luns, absl::Time now);

 private:
  // The rate of a number of bytes that only grows, by its name.
  double RateOf(const std::string& name, uint64_t bytes, double at_first);

  std::map<std::string, uint64_t> last_;
  std::map<std::string, uint64_t> next_;
  std::optional<absl::Time> last_time_;
  double seconds_ = 0;  // since then
};

}  // namespace tapedeck::services::tapectl
