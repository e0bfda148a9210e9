#include "gpu_worker/job/any_job.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/stage_report.h"
#include "services/base/errors.h"
#include "services/base/trace/context.h"
#include "services/model/words/names.h"

namespace tapedeck::gpu_worker::job {

AnyJob::AnyJob(const std::string& name, services::session::Direction direction,
               const JobEnvironment& environment)
    : environment_(environment), span_(environment.trace.Start("job")) {
  span_.Set("tapedeck.job", name);
  span_.Set("tapedeck.direction", services::model::LabelOf(direction));
  job_.name = name;
  job_.direction = direction;
  job_.device = environment.device->description;
  job_.group = environment.group;
  job_.notes = environment.notes;
  job_.start_time_ns = environment.executor->clock().WallNs();
}

services::Job AnyJob::state() const {
  absl::MutexLock lock(&mutex_);
  return job_;
}

bool AnyJob::ended() const {
  absl::MutexLock lock(&mutex_);
  return job_.end_time_ns != 0;
}

bool AnyJob::AwaitEnd(dataplane::Deadline deadline) const {
  const auto ended = [this]()
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return job_.end_time_ns != 0; };
  absl::MutexLock lock(&mutex_);
  return dataplane::AwaitUntil(mutex_, absl::Condition(&ended), deadline);
}

absl::Status AnyJob::Stop() { return services::JobNotLive(state().name, "plays"); }

services::JobState AnyJob::StateOfEnd() {
  if (compared_ == nullptr || *compared_ > 0) return services::JobState::kSucceeded;
  const services::Note none_came = stages::NotCompared("NO_BLOCK", "no block came");
  if (std::ranges::find(job_.notes, none_came.code, &services::Note::code) == job_.notes.end()) {
    job_.notes.push_back(none_came);
  }
  return services::JobState::kNotCompared;
}

void AnyJob::SetEnd(absl::Status error) {
  const services::telemetry::trace::LogUnder log(span_.context());
  job_.end_time_ns = environment_.executor->clock().WallNs();
  job_.error = std::move(error);
  if (cancelled_ && (job_.error.ok() || absl::IsCancelled(job_.error))) {
    job_.state = services::JobState::kCancelled;
    job_.error = services::JobCancelled(job_.name);
  } else {
    job_.state = job_.error.ok() ? StateOfEnd() : services::JobState::kFailed;
  }
  const bool has_share = stopped_ && job_.progress.has_value();
  if (job_.state == services::JobState::kSucceeded && !has_share) {
    if (job_.blocks > 0) job_.total_blocks = job_.blocks;
    job_.progress = 1;
  }
  span_.Set("tapedeck.recording", job_.recording);
  span_.End(job_.error);
  const bool failed = job_.state == services::JobState::kFailed;
  dataplane::Log(
      failed ? dataplane::LogLevel::kError : dataplane::LogLevel::kInfo, "job",
      job_.error.ok() ? "complete" : std::string(job_.error.message()),
      {{"job", job_.name}, {"recording", job_.recording}, {"blocks", absl::StrCat(job_.blocks)}});
  if (failed && environment_.trail != nullptr) environment_.trail->Failed(job_.error);
  if (environment_.changed) environment_.changed();
}

}  // namespace tapedeck::gpu_worker::job
