// Decides when to flush written blocks, many at a time, and knows which are durable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "dataplane/clock.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/flight/stamp.h"
#include "services/base/trace/span.h"
#include "services/session/transfer/session_stage_times.h"
#include "storage_node/recording/lun_meter.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

// Spans of the flushes of a recording that were slow, for whoever traces its session.

// A disk at work takes some milliseconds.
inline constexpr int64_t kSlowFlushNs = 200 * dataplane::kMillisecondNs;
// So many of a recording.
inline constexpr uint64_t kMaxSlowFlushes = 32;

// One thread.
class SlowFlushes {
 public:
  // `trace` is that of the session.
  SlowFlushes(services::telemetry::trace::Branch trace, std::string recording)
      : trace_(std::move(trace)), recording_(std::move(recording)) {}

  // A flush that has just ended.
  void Flushed(int64_t took_ns, const absl::Status& status) {
    if (took_ns < kSlowFlushNs || ++told_ > kMaxSlowFlushes) return;
    auto span = trace_.StartedBefore(took_ns, "slow flush");
    span.Set("tapedeck.recording", recording_);
    span.End(status);
  }

 private:
  services::telemetry::trace::Branch trace_;
  std::string recording_;
  uint64_t told_ = 0;
};

// Nothing written stays unflushed for longer; with the flush itself this keeps the durable
// watermark less than 100 ms old.
inline constexpr int64_t kFlushPeriodNs = 50 * dataplane::kMillisecondNs;

struct CommitTerms {
  // A flush also starts when so many are unflushed: with a whole ring unflushed the sender would
  // have to wait.
  size_t blocks = 1;
  uint64_t durable = 0;  // every block below is already
  dataplane::flight::Trail trail;
  std::shared_ptr<services::session::SessionStageTimes> stages =
      nullptr;  // null: nobody counts flushes
  SlowFlushes slow_flushes;
};

// Lives on `executor`, which is that of `files`; both outlive it.
class GroupCommit {
 public:
  // `on_flushed` is called after every flush; it may not destroy this.
  GroupCommit(store::RecordingFiles& files, dataplane::Executor& executor, CommitTerms terms,
              LunMeter& meter, std::function<void(const absl::Status&)> on_flushed)
      : files_(files),
        executor_(executor),
        terms_(std::move(terms)),
        meter_(meter),
        on_flushed_(std::move(on_flushed)),
        contiguous_(terms_.durable),
        durable_(terms_.durable) {}

  // `blocks` more are written with their index entries; all below `contiguous` are.
  void OnWritten(uint64_t contiguous, size_t blocks);

  // From now on everything is flushed at once: no more blocks will come.
  void Hurry();

  // Everything below was written before a flush that ended well.
  uint64_t durable() const { return durable_; }

  // When the oldest block was written that is not known to be durable; 0: there is none.
  int64_t waiting_since_ns() const {
    if (flushing_) return flushing_since_ns_;
    return unflushed_ > 0 ? oldest_ns_ : 0;
  }

  // A flush has failed: nothing above durable() is known to be on the disk.
  bool failed() const { return failed_; }

  // No flush is under way or will come. There is none after one that failed: what the kernel then
  // holds nobody knows, so no further flush may be believed.
  bool idle() const { return !flushing_ && (unflushed_ == 0 || failed_); }

 private:
  void MaybeFlush();
  void Flush();
  void OnFlushed(const absl::Status& status, uint64_t contiguous, int64_t started_ns);
  int64_t now() const { return executor_.clock().NowNs(); }

  store::RecordingFiles& files_;
  dataplane::Executor& executor_;
  CommitTerms terms_;
  LunMeter& meter_;
  const std::function<void(const absl::Status&)> on_flushed_;
  uint64_t contiguous_;
  uint64_t durable_;
  size_t unflushed_ = 0;
  int64_t oldest_ns_ = 0;          // of those
  int64_t flushing_since_ns_ = 0;  // the same of the flush under way
  // Flushes take a fifth of the time at most: where they are free none waits, where they are dear
  // they are rare.
  int64_t delay_ns_ = 0;
  bool flushing_ = false;
  bool failed_ = false;
  bool hurry_ = false;
  bool timer_set_ = false;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::recording
