// What every job of a worker has, whatever moves its blocks: where it stands, and its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "gpu_worker/job/job_environment.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "services/base/trace/span.h"
#include "services/model/seams/jobs.h"
#include "services/session/protocol/messages.h"

namespace tapedeck::gpu_worker::job {

// Any thread. Shared by the worker's list and what moves its blocks.
class AnyJob {
 public:
  virtual ~AnyJob() = default;

  const pipeline::DeviceChoice& device() const { return *environment_.device; }
  services::Job state() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool ended() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits; not on the executor. False if it has not ended by then.
  bool AwaitEnd(dataplane::Deadline deadline = dataplane::Deadline::Never()) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends it in order: a recording is sealed with what it has.
  virtual void Cancel() = 0;
  // Ends the calls that it still makes to storage nodes beside its sessions: what they were to
  // write is missing then.
  virtual void EndCalls() {}

  // Ends its live source as its limit would; again: changes nothing. FAILED_PRECONDITION
  // (JOB_NOT_LIVE).
  virtual absl::Status Stop();

 protected:
  AnyJob(const std::string& name, services::session::Direction direction,
         const JobEnvironment& environment);

  // The state that its end gives it, and the last word of it for log, trace and flight recorder.
  void SetEnd(absl::Status error) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const JobEnvironment environment_;
  services::telemetry::trace::Span span_;  // whoever starts the job, then its executor

  mutable absl::Mutex mutex_;
  services::Job job_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // Its source, on request: if all that was asked for is known, it has a share of that.
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  // Blocks that its sink compared with their source; null: it is not there to compare.
  std::shared_ptr<const std::atomic<uint64_t>> compared_ ABSL_GUARDED_BY(mutex_);

 private:
  // The state of a job that ended well.
  services::JobState StateOfEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
};

}  // namespace tapedeck::gpu_worker::job
