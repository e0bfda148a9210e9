#include "gpu_worker/worker.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/job/job_rails.h"
#include "gpu_worker/stages/list.h"
#include "services/errors.h"
#include "services/model/names.h"
#include "services/telemetry/transfers.h"
#include "services/version.h"

namespace tapedeck::gpu_worker {

using services::JobState;
using services::telemetry::MetricId;

namespace {

// Ended jobs kept for GetJob and ListJobs.
constexpr size_t kKeptJobs = 1000;

absl::Status Draining() {
  return services::Draining("the worker is shutting down; try again when it is up");
}

}  // namespace

Worker::~Worker() { CancelAll(); }

void Worker::Drain(absl::Time deadline) {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
    mutex_.AwaitWithDeadline(absl::Condition(this, &Worker::none_starts), deadline);
  }
  for (const services::Job& job : ListJobs()) {
    if (const auto found = Find(job.name); found != nullptr) found->AwaitEnd(deadline);
  }
}

void Worker::CancelAll() {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
    for (const auto& start : starts_) start->storage->Cancel();
    mutex_.Await(absl::Condition(this, &Worker::none_starts));
  }
  for (const services::Job& job : ListJobs()) {
    if (job.end_time_ns == 0) Find(job.name)->Cancel();
  }
  // Each ends within its session's deadlines.
  for (const services::Job& job : ListJobs()) Find(job.name)->AwaitEnd();
}

absl::StatusOr<services::Job> Worker::StartRecord(const services::RecordSpec& spec) {
  return StartOnce(spec.transfer, [&](const Start& start, const job::JobEnvironment& environment) {
    return job::Job::StartRecord(start.name, spec, environment, start.storage);
  });
}

absl::StatusOr<services::Job> Worker::StartPlayback(const services::PlaybackSpec& spec) {
  return StartOnce(spec.transfer, [&](const Start& start, const job::JobEnvironment& environment) {
    return job::Job::StartPlayback(start.name, spec, environment, start.storage);
  });
}

template <typename Make>
absl::StatusOr<services::Job> Worker::StartOnce(const services::TransferSpec& spec, Make make) {
  TD_RETURN_IF_ERROR(parts_.reach.storages.Check(spec.storage));
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<Start> start, Begin(spec));
  if (!start->ended) {
    auto environment = Environment(*start, spec);
    auto job = environment.ok() ? make(*start, *environment)
                                : absl::StatusOr<std::shared_ptr<job::Job>>(environment.status());
    if (!job.ok()) job = device::FailureOn(*parts_.device.device, job.status());
    End(*start, std::move(job));
  }
  TD_RETURN_IF_ERROR(start->job.status());
  return (*start->job)->state();
}

absl::StatusOr<std::shared_ptr<Worker::Start>> Worker::Begin(const services::TransferSpec& spec) {
  absl::MutexLock lock(&mutex_);
  if (draining_) return Draining();
  if (!spec.request_id.empty()) {
    const auto starting = std::ranges::find(starts_, RequestOf(spec),
                                            [](const auto& start) { return start->request; });
    if (starting != starts_.end()) {
      const std::shared_ptr<Start> start = *starting;
      mutex_.Await(absl::Condition(&start->ended));
      return start;
    }
    if (const auto earlier = requests_.find(RequestOf(spec)); earlier != requests_.end()) {
      return std::make_shared<Start>(Start{.ended = true, .job = jobs_.at(earlier->second)});
    }
  }
  const uint64_t number = ++started_;
  return starts_.emplace_back(std::make_shared<Start>(
      Start{.name = absl::StrCat("jobs/", number),
            .request = RequestOf(spec),
            .storage = parts_.storage->Dial(spec.storage, spec.trace, spec.caller),
            .executor = parts_.executors[number % parts_.executors.size()]}));
}

void Worker::End(Start& start, absl::StatusOr<std::shared_ptr<job::Job>> job) {
  absl::MutexLock lock(&mutex_);
  if (job.ok()) Keep(start.name, *job, start.request);
  // What a start meets after its calls were ended is our own doing.
  start.job = job.ok() || !draining_ ? std::move(job) : Draining();
  start.ended = true;
  std::erase_if(starts_, [&](const auto& other) { return other.get() == &start; });
}

absl::StatusOr<job::JobEnvironment> Worker::Environment(const Start& start,
                                                        const services::TransferSpec& spec) {
  TD_RETURN_IF_ERROR(Health());
  TD_ASSIGN_OR_RETURN(job::JobRails rails, job::RailsFor(spec.rails, parts_.rails, DeviceMemory()));
  dataplane::Log(dataplane::LogLevel::kInfo, "job", "rails chosen",
                 {{"job", start.name}, {"rails", job::NamesOf(rails.rails)}, {"why", rails.why}});
  return job::JobEnvironment{
      .executor = start.executor,
      .device = &parts_.device,
      .ladder = &ladder_,
      .rails = std::move(rails.rails),
      .notes = std::move(rails.notes),
      .connections_per_rail = parts_.connections_per_rail,
      .files = parts_.reach.files,
      .destinations = parts_.reach.destinations,
      .worker_name = parts_.name,
      .trail = parts_.trails == nullptr
                   ? nullptr
                   : parts_.trails->New(
                         {.job = start.name, .storage = spec.storage, .recording = spec.target}),
      .trace = spec.trace};
}

void Worker::Keep(const std::string& name, std::shared_ptr<job::Job> job, const Request& request) {
  jobs_[name] = std::move(job);
  order_.push_back(name);
  if (!request.second.empty()) requests_[request] = name;
  if (order_.size() <= kKeptJobs || !jobs_.at(order_.front())->ended()) return;
  const std::string oldest = order_.front();
  order_.pop_front();
  forgotten_.Add(jobs_.at(oldest)->state());
  jobs_.erase(oldest);
  std::erase_if(requests_, [&](const auto& entry) { return entry.second == oldest; });
}

std::shared_ptr<job::Job> Worker::Find(const std::string& name) const {
  absl::MutexLock lock(&mutex_);
  const auto it = jobs_.find(name);
  return it == jobs_.end() ? nullptr : it->second;
}

absl::StatusOr<services::Job> Worker::GetJob(const std::string& name) {
  const std::shared_ptr<job::Job> job = Find(name);
  if (job == nullptr) return services::JobNotFound(name);
  return job->state();
}

std::vector<services::Job> Worker::ListJobs() {
  absl::MutexLock lock(&mutex_);
  std::vector<services::Job> list;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) list.push_back(jobs_.at(*it)->state());
  return list;
}

absl::StatusOr<services::Job> Worker::CancelJob(const std::string& name) {
  const std::shared_ptr<job::Job> job = Find(name);
  if (job == nullptr) return services::JobNotFound(name);
  job->Cancel();
  return job->state();
}

services::MemoryKindInfo Worker::DeviceMemory() const {
  const device::DeviceInfo& device = parts_.device.device->info();
  services::MemoryKindInfo memory =
      device.works_in_host_memory
          ? parts_.placement.HostMemory()
          : parts_.placement.GpuMemory({.device = device.name, .bytes = device.memory_bytes},
                                       device.pci_address);
  memory.description = parts_.device.description;
  const absl::Status health = Health();
  memory.status = health.ok() ? parts_.device.why : std::string(health.message());
  return memory;
}

services::NodeInfo Worker::Describe() const {
  services::NodeInfo info{.name = parts_.name,
                          .role = services::NodeRole::kWorker,
                          .version = services::kVersion,
                          .pid = getpid()};
  info.rails = parts_.placement.rails();
  info.memory.push_back(DeviceMemory());
  info.memory.back().rungs = ladder_.Describe();
  // What a GPU's blocks pass through.
  if (info.memory.front().device != "host") info.memory.push_back(parts_.placement.HostMemory());
  info.sessions = Stats().sessions;
  info.stages = stages::Names();
  return info;
}

std::vector<services::doctor::Check> Worker::DoctorChecks() {
  return doctor::WorkerChecks([this] { return FactsForDoctor(); });
}

doctor::DeviceFacts Worker::FactsForDoctor() {
  device::Device& device = *parts_.device.device;
  doctor::DeviceFacts facts{.name = device.info().name,
                            .why = parts_.device.why,
                            .on_host = device.info().works_in_host_memory,
                            .health = device.health().status(),
                            .distances = DeviceMemory().distances,
                            .rungs = ladder_.Choices()};
  if (!facts.health.ok()) return facts;  // the driver would say the same of all else
  if (device.direct() != nullptr) facts.room = device.direct()->CheckRoom(job::kDefaultRingBytes);
  for (const dataplane::Transport* rail : parts_.rails) {
    if (rail->rail().transport == "verbs") facts.rdma_rails.push_back(rail->rail().name);
  }
  return facts;
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
  job::JobTotals totals = forgotten_;
  totals.started = started_;
  for (const auto& [name, job] : jobs_) totals.Add(job->state());
  return totals;
}

void Worker::AddMetrics(services::telemetry::Page& page) const {
  job::JobTotals totals = Totals();
  for (const auto direction : dataplane::kDirections) {
    job::JobTotals::OfDirection& of = totals.by_direction[direction];
    services::telemetry::AddTransfers(page, direction, of.stats);
    for (const auto& [state, word] : services::model::EnumNames<JobState>::kTable) {
      const bool goes_on = state == JobState::kStarting || state == JobState::kRunning ||
                           state == JobState::kResuming;
      page.Add(goes_on ? MetricId("tapedeck_jobs") : MetricId("tapedeck_jobs_ended_total"),
               of.jobs[state],
               {services::model::LabelOf(direction), services::model::LabelOf(state)});
    }
  }
  page.Add("tapedeck_sessions_opened_total", totals.started);
  page.Add("tapedeck_device_info", 1,
           {parts_.device.device->info().name, parts_.device.description});
  for (const auto& chosen : ladder_.Choices()) {
    page.Add("tapedeck_ladder_rung_info", 1,
             {chosen.rail, services::model::LabelOf(chosen.direction),
              dataplane::ladder::NameOf(chosen.choice.rung)});
  }
}

}  // namespace tapedeck::gpu_worker
