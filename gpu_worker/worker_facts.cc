// What a worker says of itself: to those that ask for the node, to the doctor, to the metrics page.
#include <unistd.h>

#include "gpu_worker/stages/list.h"
#include "gpu_worker/worker.h"
#include "services/base/version.h"
#include "services/observe/telemetry/node_page.h"

namespace tapedeck::gpu_worker {

using services::JobState;
using services::telemetry::MetricId;

services::NodeInfo Worker::Describe() const {
  services::NodeInfo info{.name = parts_.name,
                          .role = services::NodeRole::kWorker,
                          .version = services::kVersion,
                          .pid = getpid()};
  info.rails = parts_.placement.rails();
  info.memory = devices_.Memory();
  info.sessions = Stats().sessions;
  info.stages = stages::Names();
  return info;
}

std::vector<services::doctor::Check> Worker::DoctorChecks() {
  std::vector<services::doctor::Check> checks;
  for (const auto& device : devices_.list()) {
    checks.push_back(doctor::DeviceCheck(
        device->name(), [device = device.get()] { return device->FactsForDoctor(); }));
  }
  return checks;
}

services::NodeStats Worker::Stats() const {
  const job::JobTotals totals = Totals();
  services::NodeStats stats{.sessions_opened = totals.started};
  for (const auto& [direction, of] : totals.by_direction) {
    stats.sessions += of.stats.sessions;
    stats.blocks += of.stats.blocks;
    stats.bytes += of.stats.bytes;
    stats.counters += of.stats.counters;
    services::model::Add(of.stats.stage_times, stats.stage_times);
  }
  return stats;
}

job::JobTotals Worker::Totals() const {
  absl::MutexLock lock(&mutex_);
  job::JobTotals totals = jobs_.Totals();
  totals.started = started_;
  return totals;
}

void Worker::AddMetrics(services::telemetry::Page& page) const {
  job::JobTotals totals = Totals();
  for (const auto direction : dataplane::kDirections) {
    job::JobTotals::OfDirection& of = totals.by_direction[direction];
    services::telemetry::AddTransfers(page, direction, of.stats);
    for (const auto& [state, word] : services::model::EnumNames<JobState>::kTable) {
      const bool goes_on = state == JobState::kStarting || state == JobState::kRunning ||
                           state == JobState::kResuming || state == JobState::kPreparing;
      page.Add(goes_on ? MetricId("tapedeck_jobs") : MetricId("tapedeck_jobs_ended_total"),
               of.jobs[state],
               {services::model::LabelOf(direction), services::model::LabelOf(state)});
    }
  }
  page.Add("tapedeck_sessions_opened_total", totals.started);
  for (const auto& device : devices_.list()) device->AddMetrics(page);
}

}  // namespace tapedeck::gpu_worker
