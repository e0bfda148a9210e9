#include "gpu_worker/pipeline/outlet.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::pipeline {

using dataplane::Block;
using dataplane::Flow;

absl::StatusOr<Flow> Outlet::Pull(Block* block) {
  absl::MutexLock lock(&mutex_);
  if (!ready_.empty()) {
    *block = std::move(ready_.front());
    ready_.pop_front();
    return Flow::kMoved;
  }
  if (!ended_) {
    hungry_ = true;
    return Flow::kNotNow;
  }
  if (!end_status_.ok()) return end_status_;
  return Flow::kEnd;
}

void Outlet::SetWaker(dataplane::Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

void Outlet::Give(Block block) {
  absl::MutexLock lock(&mutex_);
  if (closed_) return;
  ready_.push_back(std::move(block));
  Wake();
}

void Outlet::End(const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  if (std::exchange(ended_, true)) return;
  end_status_ = status;
  Wake();
}

void Outlet::Close() {
  std::deque<Block> unused;  // their slots' waker is called outside the lock
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  waker_ = nullptr;
  unused.swap(ready_);
}

bool Outlet::closed() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

void Outlet::Wake() {
  if (!std::exchange(hungry_, false)) return;
  if (waker_) waker_();
}

absl::Status NoOtherCopy(const dataplane::BlockHeader& header) {
  return services::BlockDamaged({.blocks = 1},
                                absl::StrCat("Reject: block ", header.sequence,
                                             " was damaged and the source has no other copy"));
}

}  // namespace tapedeck::gpu_worker::pipeline
