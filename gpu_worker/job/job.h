// One record or playback run: a pipeline, its ring and the session that carries its blocks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/executor/executor.h"
#include "dataplane/transport/transport.h"
#include "gpu_worker/job/annotator.h"
#include "gpu_worker/job/job_ring.h"
#include "gpu_worker/pace/meter.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "gpu_worker/pipeline/memory_ladder.h"
#include "gpu_worker/pipeline/pipeline_factory.h"
#include "services/catalog.h"
#include "services/files/file_roots.h"
#include "services/flight/trails.h"
#include "services/identity/address_patterns.h"
#include "services/jobs.h"
#include "services/session/resuming_session.h"
#include "services/storage.h"
#include "services/telemetry/trace/span.h"

namespace tapedeck::gpu_worker::job {

// What a job uses of its worker; all of it outlives the job.
struct JobEnvironment {
  dataplane::Executor* executor = nullptr;  // the session lives here
  const pipeline::DeviceChoice* device = nullptr;
  pipeline::MemoryLadder* ladder = nullptr;
  std::vector<dataplane::Transport*> rails;  // chosen for this job
  std::vector<std::string> notes;            // for the job
  uint32_t connections_per_rail = 1;
  services::files::FileRoots files;                  // that the job may name
  services::identity::AddressPatterns destinations;  // the same
  std::string worker_name;
  std::string group;  // of jobs that were started together; empty: this one was started alone
  std::shared_ptr<services::flight::TrailRecord> trail;  // null: none. Shared with who shows it
  services::telemetry::trace::Branch trace;              // of the call that asked for the job
};

// Any thread, except where said. Shared by the worker's list and the callbacks of its session.
class Job : public std::enable_shared_from_this<Job> {
 public:
  // Reads what the stages are told, asks the storage node for the channel or recording, builds the
  // pipeline and opens the session.
  // Waits for the node's answer, at most as long as `storage` does, not for the transfer. On error
  // there is no job.
  static absl::StatusOr<std::shared_ptr<Job>> StartRecord(
      const std::string& name, const services::RecordSpec& spec, const JobEnvironment& environment,
      std::shared_ptr<services::StorageClient> storage);
  static absl::StatusOr<std::shared_ptr<Job>> StartPlayback(
      const std::string& name, const services::PlaybackSpec& spec,
      const JobEnvironment& environment, std::shared_ptr<services::StorageClient> storage);

  const pipeline::DeviceChoice& device() const { return *environment_.device; }
  services::Job state() const;
  bool ended() const;
  // Waits; not on the executor. False if it has not ended by then.
  bool AwaitEnd(absl::Time deadline = absl::InfiniteFuture()) const;

  // Ends it in order: a recording is sealed with what it has.
  void Cancel();

 private:
  Job(const std::string& name, services::session::Direction direction,
      const JobEnvironment& environment, std::shared_ptr<services::StorageClient> storage);

  // `op` is the one that the storage node is expected to choose.
  absl::Status MakeRing(const services::TransferSpec& spec, dataplane::TransferOp op,
                        uint64_t block_bytes);
  struct Manner {
    bool ordered = false;       // playback: the sink wants blocks in order
    int64_t resume_for_ns = 0;  // record: how long it tries to go on
  };
  void OpenSession(services::session::Open open, const services::TransferSpec& spec,
                   const Manner& manner);
  // FAILED_PRECONDITION (CHANNEL_IN_USE): the session is for other samples than the pipeline makes.
  absl::Status CheckAccepted(const services::session::Accept& accept) const;
  void OnChange(const services::session::Snapshot& snapshot);
  // On the executor. `annotated`: whether the recording has the annotations of its stages.
  void Conclude(const services::session::Snapshot& snapshot, const absl::Status& annotated);
  void SetEnd(const services::session::Snapshot& snapshot, const absl::Status& annotated)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const JobEnvironment environment_;
  services::telemetry::trace::Span span_;  // whoever starts the job, then its executor
  // Until it has ended. While the job starts, its worker may end the calls from another thread.
  std::shared_ptr<services::StorageClient> storage_;

  std::optional<services::Channel>
      channel_;  // that it records into, as its pipeline was made for it
  std::shared_ptr<const pace::Meter> meter_;  // null: nobody has asked for a pace, range or time
  // Until the session takes it, or has ended without.
  services::session::TransferEnd end_;
  // Of a source that remarks something, else null.
  std::shared_ptr<stages::Remarks> remarks_;
  std::unique_ptr<Annotator> annotator_;  // until the job has ended

  // On the executor.
  std::unique_ptr<services::session::ResumingSession> session_;

  mutable absl::Mutex mutex_;
  services::Job job_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tapedeck::gpu_worker::job
