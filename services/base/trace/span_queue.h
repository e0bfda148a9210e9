// Spans that have ended, until they are exported: so many at most, whatever becomes of the
// collector. What finds no room is dropped and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/base/trace/span.h"

namespace tapedeck::services::telemetry::trace {

// Spans that wait. A program at work ends some hundred a second at most.
inline constexpr size_t kMaxQueuedSpans = 2048;
inline constexpr size_t kMaxQueuedBytes = 8 << 20;
// Of one export. A collector takes messages of 4 MiB by default.
inline constexpr size_t kMaxBatchSpans = 512;
inline constexpr size_t kMaxBatchBytes = 1 << 20;

using SpanBatch = std::vector<std::unique_ptr<const SpanData>>;

// Any thread. Outlives the tracer that fills it.
class SpanQueue {
 public:
  // Does not wait for anything but other callers.
  void Put(std::unique_ptr<const SpanData> span) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until there is a whole batch, for `patience` at most, and takes what there is. Once the
  // queue is closed it does not wait.
  SpanBatch Take(absl::Duration patience) ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  bool closed() const ABSL_LOCKS_EXCLUDED(mutex_);

  // What became of those that were taken.
  void CountExported(uint64_t spans) { exported_ += spans; }
  void CountDropped(uint64_t spans) { dropped_ += spans; }
  uint64_t exported() const { return exported_; }
  uint64_t dropped() const { return dropped_; }

 private:
  bool HasBatch() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || spans_.size() >= kMaxBatchSpans || bytes_ >= kMaxBatchBytes;
  }

  mutable absl::Mutex mutex_;
  std::deque<std::unique_ptr<const SpanData>> spans_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of those
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> exported_ = 0;
  std::atomic<uint64_t> dropped_ = 0;
};

}  // namespace tapedeck::services::telemetry::trace
