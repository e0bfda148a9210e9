// source stage → transforms → ring slot → CRC, as a Source: what a record session sends. Several
// blocks are under way on the device at a time; nothing waits for one of them, nor for a source
// that has nothing yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/block/source.h"
#include "dataplane/clock.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/memory/slot_pool.h"
#include "gpu_worker/pace/meter.h"
#include "gpu_worker/pace/timer.h"
#include "gpu_worker/pipeline/device_work.h"
#include "gpu_worker/pipeline/outlet.h"
#include "gpu_worker/pipeline/second_output.h"
#include "gpu_worker/stages/stage.h"
#include "services/base/threads/task_thread.h"
#include "services/model/job_spec.h"

namespace tapedeck::gpu_worker::pipeline {

struct RecordPlan {
  std::unique_ptr<stages::SourceStage> source;
  std::unique_ptr<SecondOutput> second_output;  // null: there is no second output
  std::unique_ptr<DeviceWork> work;
  std::shared_ptr<dataplane::SlotPool> ring;  // of MakeRing; the pipeline is its only taker
  const dataplane::Clock* clock = nullptr;    // outlives the pipeline
  // The session's, which outlives the pipeline: ends a duration while the source has nothing. Null:
  // for a source that always has something.
  dataplane::Executor* executor = nullptr;
  size_t block_bytes = 0;
  size_t sample_bytes = 0;  // of the payload's datatype
  // What was asked for. Its duration counts from the first block on. If it has a time, no block is
  // begun before, and the meter gets the time of the first; else timer and meter are null.
  services::RecordSpec spec;
  // Not 0: samples count from spec.at_ns. Blocks that were over when the first could be begun are
  // missing, and the first there is begins when it is due.
  double samples_per_s = 0;
  std::unique_ptr<pace::Timer> timer;
  std::shared_ptr<pace::Meter> meter;
  dataplane::flight::Trail trail;
};

// Lives on its session's executor; makes blocks on a thread of its own, from SetWaker on, as long
// as the ring has slots; small ones several at a time, where the ring lends runs. Blocks come in
// order. A failure is answered after the blocks before it.
class RecordPipeline final : public dataplane::Source {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<RecordPipeline>> Create(RecordPlan plan);

  // Waits for the step under way and for the device.
  ~RecordPipeline() override;

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    return outlet_.Pull(block);
  }
  void SetWaker(dataplane::Waker waker) override;
  void Acknowledge(uint64_t /*watermark*/) override {}
  // DATA_LOSS (BLOCK_DAMAGED): a sent block's slot may hold another block by now.
  absl::Status Reject(const dataplane::BlockHeader& header) override { return NoOtherCopy(header); }

  // What its stages took. Any thread.
  services::StageTimes stage_times() const { return plan_.work->meter().Times(); }

  // Ends the stream after the blocks under way, and what the source has besides. Any thread.
  void Stop();
  // The same as a call for later, which does nothing once the pipeline is gone. On the executor.
  std::function<void()> Stopper() {
    return lifetime_.Guard([this] { Stop(); });
  }

  // When the duration began, by the clock; 0: no block has come. Any thread, also once the pipeline
  // is gone.
  std::function<int64_t()> Began() const {
    return [began = begin_.told_ns] { return began->load(); };
  }

 private:
  RecordPipeline(RecordPlan plan, std::shared_ptr<services::TaskQueue> tasks,
                 std::unique_ptr<services::TaskThread> thread);

  // Blocks that are made at once, side by side in the ring.
  struct Underway {
    std::vector<dataplane::Block> blocks;
    GpuRing::Loan loan;
  };

  // Work thread.
  void Advance();
  std::optional<Underway> TakeSlots();
  // Whether the first block is to wait; sleeps for a while then.
  bool TooEarly();
  // When a block is due, UTC; of a recording whose samples count from spec.at_ns.
  int64_t DueNs(uint64_t sequence) const;
  // What went by while nothing could be begun is missing.
  void SkipUntil(int64_t now_ns);
  bool IsSkipped() const { return next_sequence_ < begin_.skipped; }
  void Start(Underway underway);
  absl::StatusOr<stages::Filled> Fill(Underway& underway);
  absl::Status Enqueue(Underway& underway, size_t made);
  // Of what came out, and of what the limit allows; the other slots go back.
  void SetHeaders(Underway& underway, const stages::Filled& filled);
  // The second output takes of a block before the next one is begun, and waits for slots of its
  // own.
  void FeedSecondOutput();
  void Hold(Underway underway);
  void Enqueued(Underway underway);
  void StopAtDuration();
  void Complete(Underway underway, const absl::Status& status);
  void Give(Underway& underway);
  bool MustStop();
  bool LimitReached();
  void Seal(absl::Status status);
  void EndIfDone();
  void PostAdvance();

  // Work thread only, but for what says otherwise.

  // Of the first block.
  struct Begin {
    bool asked = false;    // the source was asked for it
    uint64_t skipped = 0;  // blocks that it came too late for
    int64_t clock_ns = 0;  // when the duration began
    // The same once there is a block, else 0. Any thread, also once the pipeline is gone.
    const std::shared_ptr<std::atomic<int64_t>> told_ns = std::make_shared<std::atomic<int64_t>>(0);
  };

  // Of what was filled last.
  struct Newest {
    int64_t made_ns = 0;       // of the newest block, when it was asked for
    int64_t capture_ns = 0;    // of its first sample; kTimeUnknown: nobody knows it
    size_t payload_bytes = 0;  // what came out of the transforms
  };

  // What the next Advance waits for.
  struct Rest {
    bool posted = false;                 // it has been posted
    bool dry = false;                    // the source has nothing; its waker ends that
    std::optional<Underway> unused;      // the slots that it had nothing for
    std::optional<Underway> for_second;  // the second output has not taken all of it yet
  };

  // Of the stream.
  struct End {
    std::atomic<bool> wanted = false;  // any thread
    bool asked = false;                // the source was told so
    bool gives_rest = false;           // and has more until it ends
    bool sealed = false;               // no further block is started
    bool broken = false;               // a block failed on the device: those behind it are dropped
    absl::Status status;               // of the seal
  };

  const RecordPlan plan_;
  const std::shared_ptr<services::TaskQueue> tasks_;
  Outlet outlet_;

  uint64_t next_sequence_ = 0;
  size_t underway_ = 0;  // on the device
  Begin begin_;
  Newest newest_;
  Rest rest_;
  End end_;

  dataplane::Lifetime lifetime_;  // of tasks on the executor

  // The last: what tasks use is destroyed after it has ended.
  const std::unique_ptr<services::TaskThread> thread_;
};

}  // namespace tapedeck::gpu_worker::pipeline
