#include "gpu_worker/job/job_table.h"

#include <algorithm>
#include <iterator>

namespace tapedeck::gpu_worker::job {

void JobTable::Add(const std::string& name, std::shared_ptr<AnyJob> job) {
  jobs_[name] = std::move(job);
  order_.push_back(name);
  if (!past_.empty() && order_.size() + past_.size() > kKept) past_.pop_back();
  if (order_.size() <= kKept || !jobs_.at(order_.front())->ended()) return;
  const std::string oldest = order_.front();
  order_.pop_front();
  forgotten_.Add(jobs_.at(oldest)->state());
  jobs_.erase(oldest);
  std::erase_if(requests_, [&](const auto& entry) { return entry.second == oldest; });
}

std::shared_ptr<AnyJob> JobTable::Find(const std::string& name) const {
  const auto it = jobs_.find(name);
  return it == jobs_.end() ? nullptr : it->second;
}

std::optional<services::Job> JobTable::Past(const std::string& name) const {
  const auto found = std::ranges::find(past_, name, &services::Job::name);
  if (found == past_.end()) return std::nullopt;
  return *found;
}

std::shared_ptr<AnyJob> JobTable::AskedForBy(const Request& request) const {
  const auto it = requests_.find(request);
  return it == requests_.end() ? nullptr : Find(it->second);
}

std::vector<services::Job> JobTable::List() const {
  std::vector<services::Job> list;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) list.push_back(Find(*it)->state());
  std::ranges::copy(past_, std::back_inserter(list));
  return list;
}

size_t JobTable::RunningOn(const pipeline::DeviceChoice& device) const {
  return static_cast<size_t>(std::ranges::count_if(jobs_, [&](const auto& entry) {
    return &entry.second->device() == &device && !entry.second->ended();
  }));
}

JobTotals JobTable::Totals() const {
  JobTotals totals = forgotten_;
  for (const auto& [name, job] : jobs_) totals.Add(job->state());
  return totals;
}

}  // namespace tapedeck::gpu_worker::job
