#include "gpu_worker/worker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/job/job.h"
#include "gpu_worker/job/receive_job.h"
#include "gpu_worker/transfer/rails.h"
#include "services/base/errors.h"
#include "services/model/words/names.h"
#include "services/model/words/storage_list.h"

namespace tapedeck::gpu_worker {

namespace {

// More than an executor with all its sessions takes to come to what it is given.
constexpr absl::Duration kLetGoTime = absl::Seconds(5);

// Of the time that a program has to stop, the most that jobs may take for what they still write.
constexpr absl::Duration kOrderlyEnd = absl::Seconds(4);

absl::Status Draining() {
  return services::Draining("the worker is shutting down; try again when it is up");
}

}  // namespace

Worker::Worker(WorkerParts parts)
    : parts_(std::move(parts)), devices_(parts_.devices, parts_.rails, parts_.placement) {
  if (parts_.history == nullptr) return;
  {
    absl::MutexLock lock(&mutex_);
    last_number_ = parts_.history->past().number;
    jobs_.Remember(parts_.history->past().jobs);
  }
  parts_.history->Watch([this] { return JobsToKeep(); });
}

job::PastJobs Worker::JobsToKeep() const {
  absl::MutexLock lock(&mutex_);
  return {.number = last_number_, .jobs = jobs_.List()};
}

// Jobs let go of their pipelines on their executors once they have ended, and the devices go with
// the worker. An executor that has stopped lets go of nothing any more.
Worker::~Worker() {
  CancelAll();
  if (parts_.history != nullptr) parts_.history->Close();
  for (dataplane::Executor* executor : parts_.executors) {
    const auto passed = std::make_shared<absl::Notification>();
    executor->Post([passed] { passed->Notify(); });
    dataplane::AwaitFor(*passed, kLetGoTime);
  }
}

void Worker::Drain(dataplane::Deadline deadline) {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
    dataplane::AwaitUntil(mutex_, absl::Condition(this, &Worker::none_starts), deadline);
  }
  for (const services::Job& job : ListJobs()) {
    if (const auto found = Find(job.name); found != nullptr) found->AwaitEnd(deadline);
  }
}

void Worker::CancelAll() {
  {
    absl::MutexLock lock(&mutex_);
    draining_ = true;
    for (const auto& start : starts_) {
      for (const Part& part : start->parts) {
        for (const job::JobNode& node : part.nodes) node.storage->Cancel();
      }
    }
    mutex_.Await(absl::Condition(this, &Worker::none_starts));
  }
  for (const services::Job& job : ListJobs()) {
    if (!services::model::HasEnded(job)) Find(job.name)->Cancel();
  }
  const auto orderly = dataplane::Deadline::In(kOrderlyEnd);
  for (const services::Job& job : ListJobs()) {
    const auto found = Find(job.name);
    if (found != nullptr && !found->AwaitEnd(orderly)) found->EndCalls();
  }
  // Each ends within its session's deadlines.
  for (const services::Job& job : ListJobs()) {
    if (const auto found = Find(job.name); found != nullptr) found->AwaitEnd();
  }
}

absl::StatusOr<services::Job> Worker::StartRecord(const services::RecordSpec& spec) {
  TD_RETURN_IF_ERROR(CheckReach(spec.transfer));
  return StartOnce(spec.transfer, [&](const Part& part, const job::JobEnvironment& environment) {
    return job::Job::StartRecord(part.name, spec, environment, part.nodes);
  });
}

absl::StatusOr<services::Job> Worker::StartPlayback(const services::PlaybackSpec& spec) {
  TD_RETURN_IF_ERROR(CheckReach(spec.transfer));
  return StartOnce(spec.transfer, [&](const Part& part, const job::JobEnvironment& environment) {
    return job::Job::StartPlayback(part.name, spec, environment, part.nodes);
  });
}

absl::StatusOr<services::Job> Worker::StartReceive(const services::ReceiveSpec& spec) {
  if (parts_.inlets == nullptr) return services::InletsOff();
  services::TransferSpec transfer = spec.transfer;
  if (transfer.rails.empty()) transfer.rails = transfer::NamesForPeers(parts_.rails);
  return StartOnce(transfer, [&](const Part& part, const job::JobEnvironment& environment) {
    return job::ReceiveJob::Start(part.name, spec, environment, *parts_.inlets);
  });
}

absl::StatusOr<services::Inlet> Worker::GetInlet(const std::string& name) {
  if (parts_.inlets == nullptr) return services::InletsOff();
  return parts_.inlets->Get(name);
}

template <typename Make>
absl::StatusOr<services::Job> Worker::StartOnce(const services::TransferSpec& spec, Make make) {
  TD_ASSIGN_OR_RETURN(const std::shared_ptr<Start> start, Begin(spec));
  if (!start->ended) End(*start, MakeAll(*start, spec, make));
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
    if (auto earlier = jobs_.AskedForBy(RequestOf(spec)); earlier != nullptr) {
      return std::make_shared<Start>(Start{.ended = true, .job = std::move(earlier)});
    }
  }
  const auto busy = [this](const DrivenDevice& device) {
    mutex_.AssertHeld();
    return JobsOn(device);
  };
  TD_ASSIGN_OR_RETURN(const auto devices, devices_.Choose(spec.device, busy));
  auto start = std::make_shared<Start>(Start{.request = RequestOf(spec)});
  if (spec.device == services::kAllDevices) start->group = NewGroup();
  if (spec.group.has_value()) start->group = spec.group->id;
  for (DrivenDevice* device : devices) {
    ++started_;
    const uint64_t number = ++last_number_;
    start->parts.push_back({.name = absl::StrCat("jobs/", number),
                            .device = device,
                            .nodes = Dial(spec),
                            .executor = parts_.executors[number % parts_.executors.size()]});
  }
  return starts_.emplace_back(std::move(start));
}

std::vector<job::JobNode> Worker::Dial(const services::TransferSpec& spec) const {
  const auto dial = [&](const std::string& address) {
    return parts_.storage->Dial(address, spec.trace, spec.caller);
  };
  std::vector<job::JobNode> nodes;
  if (spec.storage.empty()) return nodes;
  if (!spec.standbys.empty()) {
    std::vector<std::unique_ptr<services::StorageClient>> standbys;
    for (const std::string& standby : spec.standbys) standbys.push_back(dial(standby));
    nodes.push_back({spec.storage, services::WithStandbys(dial(spec.storage), std::move(standbys)),
                     spec.standbys});
    return nodes;
  }
  for (const std::string& address : services::StoragesOf(spec.storage)) {
    nodes.push_back({address, dial(address)});
  }
  return nodes;
}

absl::Status Worker::CheckReach(const services::TransferSpec& spec) const {
  for (const std::string& address : services::StoragesOf(spec.storage)) {
    TD_RETURN_IF_ERROR(parts_.permissions.storages.Check(address));
  }
  for (const std::string& standby : spec.standbys) {
    TD_RETURN_IF_ERROR(parts_.permissions.storages.Check(standby));
  }
  return absl::OkStatus();
}

// A name as groups have: 63 bytes at most, with a number of 15 digits.
std::string Worker::NewGroup() const {
  const absl::Time now = absl::FromUnixNanos(parts_.executors.front()->clock().WallNs());
  std::string group = absl::StrCat("w", parts_.name.substr(0, 22));
  std::ranges::replace_if(
      group, [](char c) { return !absl::ascii_isalnum(c) && c != '_'; }, '-');
  return absl::StrCat(group, "-", last_number_ + 1, "-",
                      absl::FormatTime("%Y%m%dT%H%M%E6SZ", now, absl::UTCTimeZone()));
}

size_t Worker::JobsOn(const DrivenDevice& device) const {
  size_t jobs = jobs_.RunningOn(device.choice());
  for (const auto& start : starts_) {
    jobs += std::ranges::count(start->parts, &device, &Part::device);
  }
  return jobs;
}

template <typename Make>
Worker::Made Worker::MakeAll(const Start& start, const services::TransferSpec& spec, Make make) {
  Made made;
  for (const Part& part : start.parts) {
    const auto environment = Environment(start, part, spec);
    const auto make_one = [&]() -> absl::StatusOr<std::shared_ptr<job::AnyJob>> {
      TD_RETURN_IF_ERROR(environment.status());
      return make(part, *environment);
    };
    auto job = make_one();
    if (job.ok()) {
      made.jobs.emplace_back(part.name, *std::move(job));
      continue;
    }
    const std::string device = start.group.empty() ? "" : absl::StrCat(part.device->name(), ": ");
    made.status =
        dataplane::Prefixed(device, device::FailureOn(*part.device->choice().device, job.status()));
    for (const auto& [name, other] : made.jobs) other->Cancel();
    break;
  }
  return made;
}

void Worker::End(Start& start, Made made) {
  absl::MutexLock lock(&mutex_);
  for (const auto& [name, job] : made.jobs) jobs_.Add(name, job);
  if (made.status.ok()) {
    start.job = made.jobs.front().second;
    if (!start.request.second.empty()) jobs_.Note(start.request, made.jobs.front().first);
  } else {
    // What a start meets after its calls were ended is our own doing.
    start.job = draining_ ? Draining() : std::move(made.status);
  }
  if (parts_.history != nullptr) parts_.history->Changed();
  start.ended = true;
  std::erase_if(starts_, [&](const auto& other) { return other.get() == &start; });
}

absl::StatusOr<job::JobEnvironment> Worker::Environment(const Start& start, const Part& part,
                                                        const services::TransferSpec& spec) {
  TD_RETURN_IF_ERROR(part.device->Health());
  TD_ASSIGN_OR_RETURN(transfer::ChosenRails rails,
                      transfer::RailsFor(spec.rails, parts_.rails, part.device->Memory()));
  dataplane::Log(dataplane::LogLevel::kInfo, "job", "rails chosen",
                 {{"job", part.name},
                  {"device", part.device->name()},
                  {"rails", transfer::NamesOf(rails.rails)},
                  {"why", rails.why}});
  return job::JobEnvironment{
      .executor = part.executor,
      .device = &part.device->choice(),
      .ladder = &part.device->ladder(),
      .rails = std::move(rails.rails),
      .notes = std::move(rails.notes),
      .connections_per_rail = parts_.connections_per_rail,
      .files = parts_.permissions.files,
      .destinations = parts_.permissions.destinations,
      .worker_name = parts_.name,
      .changed =
          [history = parts_.history.get()] {
            if (history != nullptr) history->Changed();
          },
      .progressed =
          [history = parts_.history.get()] {
            if (history != nullptr) history->Progressed();
          },
      .group = start.group,
      .trail = parts_.trails == nullptr
                   ? nullptr
                   : parts_.trails->New(
                         {.job = part.name, .storage = spec.storage, .recording = spec.target}),
      .trace = spec.trace};
}

std::shared_ptr<job::AnyJob> Worker::Find(const std::string& name) const {
  absl::MutexLock lock(&mutex_);
  return jobs_.Find(name);
}

absl::StatusOr<services::Job> Worker::GetJob(const std::string& name) {
  if (const std::shared_ptr<job::AnyJob> job = Find(name); job != nullptr) return job->state();
  absl::MutexLock lock(&mutex_);
  if (auto past = jobs_.Past(name); past.has_value()) return *std::move(past);
  return services::JobNotFound(name);
}

std::vector<services::Job> Worker::ListJobs() {
  absl::MutexLock lock(&mutex_);
  return jobs_.List();
}

absl::StatusOr<services::Job> Worker::EndJob(const std::string& name, services::JobEnd how) {
  if (const std::shared_ptr<job::AnyJob> job = Find(name); job != nullptr) {
    if (how == services::JobEnd::kStop) {
      TD_RETURN_IF_ERROR(job->Stop());
    } else {
      job->Cancel();
    }
  }
  return GetJob(name);
}

}  // namespace tapedeck::gpu_worker
