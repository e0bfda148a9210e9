// ring slot → transforms → sink stage, as a Sink: what a playback session feeds. On a GPU every
// payload is or goes in device memory, and comes to the host only if the sink stage reads it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/sequence_mark.h"
#include "dataplane/block/sink.h"
#include "dataplane/flight/stamp.h"
#include "gpu_worker/pace/pacer.h"
#include "gpu_worker/pipeline/block_times.h"
#include "gpu_worker/pipeline/device_work.h"
#include "gpu_worker/stages/stage.h"
#include "services/base/threads/task_thread.h"

namespace tapedeck::gpu_worker::pipeline {

struct PlaybackPlan {
  std::unique_ptr<stages::SinkStage> sink;
  std::unique_ptr<DeviceWork> work;
  size_t block_bytes = 0;
  dataplane::flight::Trail trail;
  std::optional<pace::PacerSettings> pace;  // without its calls; none: blocks go as they come
  uint64_t block_samples = 0;               // with `pace`: of a whole block
  std::shared_ptr<const BlockTimes> times;  // null: blocks have their own
};

// Lives on its session's executor; consumes on a thread of its own, or on that of a Pacer where
// blocks have a time or samples are chosen: these must then be pushed in order. Push takes the
// block until it has all that was asked for: what the ring holds behind that goes unseen. Blocks
// are consumed in the order pushed; the stage says whether that must be the order of the sequence.
class PlaybackPipeline final : public dataplane::Sink {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<PlaybackPipeline>> Create(PlaybackPlan plan);

  // Waits for the step under way, for the sink and for the device.
  ~PlaybackPipeline() override { tasks_->Drop(); }

  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override;
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override;
  void SetWaker(dataplane::Waker waker) override;
  // All three are what the sink stage has consumed.
  dataplane::Watermarks watermarks() const override;

  // What its stages took. Any thread.
  services::StageTimes stage_times() const { return plan_.work->meter().Times(); }

 private:
  // `end_sample`: one after the last that is wanted.
  PlaybackPipeline(PlaybackPlan plan, uint64_t end_sample,
                   std::shared_ptr<services::TaskQueue> tasks,
                   std::unique_ptr<services::TaskThread> thread);

  // Blocks that the device has at once.
  struct Underway {
    std::vector<dataplane::Block> blocks;
    GpuRing::Loan loan;
  };

  // Work thread.
  void Begin(dataplane::Block block);
  // How many of those that wait the device gets next.
  size_t Together() const;
  void Start(Underway underway);
  absl::Status Process(Underway& underway);
  void Complete(Underway underway, absl::Status status);
  std::span<const std::byte> PayloadOf(const Underway& underway, size_t block) const;
  // How many there were before one failed.
  size_t Consume(const Underway& underway);
  void HandToPacer(Underway underway);
  // The first `consumed` of its blocks count.
  void Release(Underway underway, size_t consumed);
  void OnPacerEnd(const absl::Status& status);
  void OnFinish(const absl::Status& cause);
  // Which samples have been pushed then.
  void Cover(const dataplane::BlockHeader& header);
  void StartWaiting();
  void CloseIfDone();

  absl::Status StartPacer(pace::PacerSettings parts);
  bool giving() const { return pacer_ != nullptr && !pacer_ended_; }

  void Consumed(std::span<const uint64_t> sequences) ABSL_LOCKS_EXCLUDED(mutex_);
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  bool failed() const ABSL_LOCKS_EXCLUDED(mutex_);

  const PlaybackPlan plan_;
  const uint64_t end_sample_;
  const std::shared_ptr<services::TaskQueue> tasks_;

  mutable absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // the first failure
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
  dataplane::SequenceMark consumed_ ABSL_GUARDED_BY(mutex_);

  std::atomic<bool> sated_ = false;  // the Pacer has all that was asked for

  // Executor only.
  bool finishing_ = false;
  bool cut_ = false;  // short, by an error
  // One after the last that was pushed; none: nothing was.
  std::optional<uint64_t> covered_;

  // Work thread only.
  std::deque<dataplane::Block> waiting_;  // for a slot of the GPU ring
  bool start_posted_ = false;
  size_t underway_ = 0;
  size_t handed_ = 0;  // to the Pacer, which has not let go of them
  bool last_pushed_ = false;
  absl::Status cause_;
  bool pacer_ended_ = false;
  bool sink_closed_ = false;

  // Null: blocks go as they come. What it holds goes before what that lies in.
  std::unique_ptr<pace::Pacer> pacer_;

  // The last: what tasks use is destroyed after it has ended.
  const std::unique_ptr<services::TaskThread> thread_;
};

}  // namespace tapedeck::gpu_worker::pipeline
