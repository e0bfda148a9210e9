#include "storage_node/recording/writing/group_commit.h"

#include <algorithm>

namespace tapedeck::storage_node::recording {

void GroupCommit::OnWritten(uint64_t contiguous, size_t blocks) {
  contiguous_ = contiguous;
  if (unflushed_ == 0) oldest_ns_ = now();
  unflushed_ += blocks;
  MaybeFlush();
}

void GroupCommit::Hurry() {
  hurry_ = true;
  MaybeFlush();
}

void GroupCommit::MaybeFlush() {
  if (flushing_ || failed_ || unflushed_ == 0) return;
  const int64_t due_ns = oldest_ns_ + delay_ns_;
  if (hurry_ || unflushed_ >= terms_.blocks || now() >= due_ns) return Flush();
  if (timer_set_) return;
  timer_set_ = true;
  executor_.PostAt(due_ns, lifetime_.Guard([this] {
    timer_set_ = false;
    MaybeFlush();
  }));
}

void GroupCommit::Flush() {
  flushing_ = true;
  unflushed_ = 0;
  flushing_since_ns_ = oldest_ns_;
  const int64_t started_ns = now();
  terms_.trail.Stamp(dataplane::flight::Kind::kFlush,
                     {.sequence = contiguous_, .argument = contiguous_, .now_ns = started_ns});
  if (terms_.stages != nullptr) terms_.stages->FlushBegan(started_ns);
  files_.Flush([this, contiguous = contiguous_, started_ns](absl::Status status) {
    OnFlushed(status, contiguous, started_ns);
  });
}

void GroupCommit::OnFlushed(const absl::Status& status, uint64_t contiguous, int64_t started_ns) {
  flushing_ = false;
  failed_ = failed_ || !status.ok();
  if (status.ok()) {
    durable_ = contiguous;
    meter_.commit_latency.Observe(now() - flushing_since_ns_);
  } else {
    ++meter_.failed_flushes;
  }
  const int64_t now_ns = now();
  if (terms_.stages != nullptr) terms_.stages->FlushEnded(now_ns);
  const int64_t took_ns = now_ns - started_ns;
  terms_.slow_flushes.Flushed(took_ns, status);
  delay_ns_ = std::min(kFlushPeriodNs, 4 * took_ns);
  MaybeFlush();
  on_flushed_(status);
}

}  // namespace tapedeck::storage_node::recording
