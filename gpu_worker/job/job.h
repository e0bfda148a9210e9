// One record or playback run: a pipeline and the session that carries its blocks, or two of them.
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
#include "dataplane/transport/transport.h"
#include "gpu_worker/job/annotator.h"
#include "gpu_worker/job/any_job.h"
#include "gpu_worker/job/job_environment.h"
#include "gpu_worker/job/parts_found.h"
#include "gpu_worker/job/progress.h"
#include "gpu_worker/pace/meter.h"
#include "gpu_worker/pipeline/pipeline_factory.h"
#include "gpu_worker/transfer/session.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/jobs.h"
#include "services/observe/flight/trails.h"
#include "services/session/opening/resuming_session.h"
#include "services/session/protocol/storage.h"

namespace tapedeck::gpu_worker::job {

// Any thread, except where said. Shared by the worker's list and the callbacks of its session.
class Job final : public AnyJob, public std::enable_shared_from_this<Job> {
 public:
  // Reads what the stages are told, asks the storage nodes for the channels or recording, builds
  // the pipeline and opens the sessions. Of several nodes, each holds a part of the recording.
  // Waits for the node's answer, at most as long as `storage` does, not for the transfer. On error
  // there is no job.
  static absl::StatusOr<std::shared_ptr<Job>> StartRecord(const std::string& name,
                                                          const services::RecordSpec& spec,
                                                          const JobEnvironment& environment,
                                                          std::vector<JobNode> nodes);
  static absl::StatusOr<std::shared_ptr<Job>> StartPlayback(const std::string& name,
                                                            const services::PlaybackSpec& spec,
                                                            const JobEnvironment& environment,
                                                            std::vector<JobNode> nodes);

  void Cancel() override;
  void EndCalls() override;
  absl::Status Stop() override;

 private:
  Job(const std::string& name, services::session::Direction direction,
      const JobEnvironment& environment, std::vector<JobNode> nodes);

  // How the first session ended. `annotated`: whether its recording has the annotations of its
  // stages, but for so many `unmarked`, whose segments are gone.
  struct End {
    services::session::Snapshot last;
    absl::Status annotated;
    uint64_t unmarked = 0;
  };

  static constexpr char kSecondOutput[] = "second output";
  struct SessionRing {
    dataplane::TransferOp op = dataplane::TransferOp::kRead;  // the one expected
    uint32_t slots = 0;                                       // 0: by the block's size
    uint64_t block_bytes = 0;
    size_t run = 1;          // slots that are lent side by side
    std::string whose = {};  // "part 1 of 2", kSecondOutput; empty: of the job alone
    bool host = false;       // in host memory
  };
  absl::StatusOr<std::unique_ptr<transfer::TransferSession>> NewSession(const SessionRing& ring);
  struct Manner {
    bool ordered = false;                           // playback: the sink wants blocks in order
    int64_t resume_for_ns = 0;                      // record: how long it tries to go on
    std::optional<services::Channel> channel = {};  // record: the one that it is made for
    std::shared_ptr<services::flight::TrailRecord> trail = nullptr;  // null: none
  };
  void OpenSession(transfer::TransferSession& session, services::session::Open open, Manner manner);
  // After its opening. It holds this job until it has ended, and `heard` lets go of it then.
  void Begin(services::session::Transfer& transfer,
             void (Job::*heard)(const services::session::Snapshot&));
  void OpenRecording(const services::RecordSpec& spec, const services::Channel& channel,
                     pipeline::Recording recording);
  // Of the jobs of one request for all devices: each recording has the ID of their group.
  void SetDevicesGroup(services::session::Open* open) const;
  // A session that is one of several, to that node. Whoever has them all tells of changes.
  services::session::ResumingSettings SessionTo(const JobNode& node, services::session::Open open,
                                                int64_t resume_for_ns);
  // What records into the channel of one node, or of all in parts. `whose` as SessionRing has it.
  void OpenInto(transfer::TransferSession& session, const services::RecordSpec& spec,
                const services::Channel& channel, services::session::Open open,
                const std::string& whose);
  void OpenParts(transfer::TransferSession& session, const services::RecordSpec& spec,
                 const services::Channel& channel, services::session::Open open,
                 const std::string& whose);
  void OpenJoined(const services::PlaybackSpec& spec, const FoundParts& found,
                  pipeline::Playback pipeline,
                  std::vector<std::unique_ptr<transfer::TransferSession>> rings, uint64_t first,
                  uint64_t block_samples);
  static absl::StatusOr<std::shared_ptr<Job>> StartJoined(const std::string& name,
                                                          const services::PlaybackSpec& spec,
                                                          const JobEnvironment& environment,
                                                          std::vector<JobNode> nodes,
                                                          FoundParts found);
  // What a playback is asked for.
  void KeepPace(const std::optional<pace::Plan>& pace);
  void TakePace(const std::optional<pace::Plan>& pace, const services::Recording& recording);
  void AddNote(services::Note note);
  // It begins with whose it is, unless that is empty.
  static services::Note NoteOf(const std::string& whose, services::Note note);
  void OpenSecond(const services::RecordSpec& spec, const services::Channel& channel,
                  pipeline::SecondRecording recording);

  // On the executor.
  void OnChange(const services::session::Snapshot& snapshot);
  // True: its recording has a name now.
  bool Show(const services::session::Snapshot& snapshot);
  void OnSecondChange(const services::session::Snapshot& snapshot);
  // The second session has ended; `annotated` and `unmarked` are those of its recording.
  void EndSecond(const absl::Status& annotated, uint64_t unmarked);
  void Conclude(End end);
  void EndIfAll();
  // Once the session has ended: blocks that are missing of what was asked for. A session gives more
  // than that.
  uint64_t LostOf(const services::session::Snapshot& snapshot) const;
  absl::Status ErrorOf(const End& end) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of a recording that has not all that its source gave: what its storage node has, or that it
  // deletes one without a block.
  void NoteKept() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Until it has ended. While the job starts, its worker may end the calls from another thread.
  std::vector<JobNode> nodes_;

  Goal goal_;
  bool in_range_ = false;  // a playback up to a sample: meter_ has what it lacks
  AwayTime away_ ABSL_GUARDED_BY(mutex_);
  // Of a recording whose source has no end of its own, on the executor; empty: it has, or it plays.
  std::function<void()> stop_source_;

  std::shared_ptr<pipeline::BlockTimes> times_;  // of a playback, on the executor
  std::shared_ptr<const pace::Meter> meter_;     // null: nobody has asked for a pace, range or time
  // Of a source that reports something, else null.
  std::shared_ptr<stages::StageReport> report_;
  std::unique_ptr<Annotator> annotator_;  // until the job has ended
  std::unique_ptr<Annotator> second_annotator_;

  // On the executor, once they are open.
  std::unique_ptr<transfer::TransferSession> session_;
  std::unique_ptr<transfer::TransferSession> second_;  // null: there is no second output
  std::optional<End> end_;                             // none: the first session has not ended
  bool second_ended_ = false;
};

}  // namespace tapedeck::gpu_worker::job
