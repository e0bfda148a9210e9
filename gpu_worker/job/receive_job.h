// A job that waits at an inlet for another worker's stream, and gives it to a sink: a playback
// whose blocks come from a recording job instead of a storage node.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/block/flow.h"
#include "gpu_worker/inlets/inlet_registry.h"
#include "gpu_worker/job/any_job.h"
#include "gpu_worker/job/job_environment.h"
#include "gpu_worker/pipeline/pipeline_factory.h"
#include "gpu_worker/transfer/ring.h"
#include "services/model/seams/inlets.h"
#include "services/session/serving/host.h"

namespace tapedeck::gpu_worker::job {

// Any thread, except where said. Shared by the worker's list, its inlet and its stream's sink.
class ReceiveJob final : public AnyJob, public std::enable_shared_from_this<ReceiveJob> {
 public:
  // Reads what the stages are told, makes the ring, and opens the inlet. `environment` has all
  // rails of the worker, as a stream may come by each. `inlets` outlives the job.
  static absl::StatusOr<std::shared_ptr<ReceiveJob>> Start(const std::string& name,
                                                           const services::ReceiveSpec& spec,
                                                           const JobEnvironment& environment,
                                                           inlets::InletRegistry& inlets);

  void Cancel() override;

  // Of the sink of its stream, on the session's executor.

  // Why it shall take no more; OK: it goes on.
  absl::Status stopped() const ABSL_LOCKS_EXCLUDED(mutex_);
  // What makes the session look at that.
  void SetWaker(dataplane::Waker waker) ABSL_LOCKS_EXCLUDED(mutex_);
  // A block has come; `consumed` is how many have gone through the pipeline.
  void Count(const dataplane::BlockHeader& header, uint64_t consumed) ABSL_LOCKS_EXCLUDED(mutex_);
  // Once; the pipeline has let go of all blocks, unless the session is gone.
  void StreamEnded(const absl::Status& cause, const services::StageTimes& times)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  ReceiveJob(const std::string& name, const services::ReceiveSpec& spec,
             const JobEnvironment& environment, pipeline::PlaybackStages stages,
             inlets::InletRegistry& inlets);

  absl::Status MakeRing();
  // On the thread of the inlets, once.
  absl::StatusOr<services::session::Admission> Admit(const services::session::Open& open);
  absl::StatusOr<services::session::Admission> MakeEnd(const services::session::Open& open);
  // Until a stream has come, the job has ended, or the wait is over. Looks again from time to time,
  // so that no timer outlives its job by long.
  void Wait(int64_t deadline_ns);
  // Unless it has ended.
  void End(const absl::Status& error) ABSL_LOCKS_EXCLUDED(mutex_);

  const services::ReceiveSpec spec_;
  inlets::InletRegistry& inlets_;

  // Until a stream has come: whoever starts the job, then the thread of the inlets, or the end.
  absl::Mutex means_mutex_;
  std::optional<pipeline::PlaybackStages> stages_ ABSL_GUARDED_BY(means_mutex_);
  std::optional<transfer::TransferRing> ring_ ABSL_GUARDED_BY(means_mutex_);

  bool has_stream_ ABSL_GUARDED_BY(mutex_) = false;
  bool waited_ ABSL_GUARDED_BY(mutex_) = false;  // long enough: no stream is taken any more
  int64_t began_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t whole_ ABSL_GUARDED_BY(mutex_) = 0;  // blocks that came with their payload
  uint64_t end_ ABSL_GUARDED_BY(mutex_) = 0;    // one beyond the highest sequence
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::gpu_worker::job
