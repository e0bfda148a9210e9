#include "services/base/trace/span_queue.h"

#include <utility>

#include "dataplane/executor/timed_wait.h"

namespace tapedeck::services::telemetry::trace {

void SpanQueue::Put(std::unique_ptr<const SpanData> span) {
  const size_t bytes = span->Bytes();
  absl::MutexLock lock(&mutex_);
  if (spans_.size() >= kMaxQueuedSpans || bytes_ + bytes > kMaxQueuedBytes) {
    ++dropped_;
    return;
  }
  bytes_ += bytes;
  spans_.push_back(std::move(span));
}

SpanBatch SpanQueue::Take(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  dataplane::AwaitFor(mutex_, absl::Condition(this, &SpanQueue::HasBatch), patience);
  SpanBatch batch;
  size_t batch_bytes = 0;
  while (!spans_.empty() && batch.size() < kMaxBatchSpans && batch_bytes < kMaxBatchBytes) {
    batch_bytes += spans_.front()->Bytes();
    batch.push_back(std::move(spans_.front()));
    spans_.pop_front();
  }
  bytes_ -= batch_bytes;
  return batch;
}

void SpanQueue::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool SpanQueue::closed() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

}  // namespace tapedeck::services::telemetry::trace
