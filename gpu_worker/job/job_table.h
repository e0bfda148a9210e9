// The jobs of a worker by their names and by the requests that asked for them.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu_worker/job/any_job.h"
#include "gpu_worker/job/job_totals.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "services/model/seams/jobs.h"

namespace tapedeck::gpu_worker::job {

// One thread at a time.
class JobTable {
 public:
  // Ended jobs that are kept to be asked for.
  static constexpr size_t kKept = 1000;

  // A caller and its request_id: nobody is answered with another one's job.
  using Request = std::pair<std::string, std::string>;

  // Where there are more than kKept, the oldest is forgotten if it has ended.
  void Add(const std::string& name, std::shared_ptr<AnyJob> job);
  // That the request asked for the job, which is there.
  void Note(const Request& request, const std::string& name) { requests_[request] = name; }

  // Of earlier runs, newest first: listed behind all others, and forgotten before them.
  void Remember(std::vector<services::Job> past) { past_ = std::move(past); }
  // None: none of that name.
  std::optional<services::Job> Past(const std::string& name) const;

  // Null: there is none of this run.
  std::shared_ptr<AnyJob> Find(const std::string& name) const;
  std::shared_ptr<AnyJob> AskedForBy(const Request& request) const;

  // The newest first.
  std::vector<services::Job> List() const;
  // That have not ended.
  size_t RunningOn(const pipeline::DeviceChoice& device) const;
  // Of all there ever were in this run, but for how many were started.
  JobTotals Totals() const;

 private:
  std::map<std::string, std::shared_ptr<AnyJob>> jobs_;
  std::deque<std::string> order_;  // oldest first
  std::map<Request, std::string> requests_;
  std::vector<services::Job> past_;
  JobTotals forgotten_;  // of those that are not in jobs_ any more
};

}  // namespace tapedeck::gpu_worker::job
