#include "services/rpc/storage_session/block_queue.h"

#include <utility>

#include "dataplane/executor/timed_wait.h"

namespace tapedeck::services::storage_session {

using dataplane::Block;

void BlockQueue::SetWaker(dataplane::Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

void BlockQueue::Put(Block block) {
  absl::MutexLock lock(&mutex_);
  if (dropped_) return;
  blocks_.push_back(std::move(block));
  Wake();
}

std::optional<Block> BlockQueue::Take() {
  absl::MutexLock lock(&mutex_);
  return TakeLocked();
}

std::optional<Block> BlockQueue::Wait(absl::Duration patience) {
  absl::MutexLock lock(&mutex_);
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !blocks_.empty() || closed_;
  };
  dataplane::AwaitFor(mutex_, absl::Condition(&ready), patience);
  return TakeLocked();
}

std::optional<Block> BlockQueue::TakeLocked() {
  if (blocks_.empty()) return std::nullopt;
  std::optional<Block> block = std::move(blocks_.front());
  blocks_.pop_front();
  ++taken_;
  Wake();
  return block;
}

void BlockQueue::Open() {
  std::deque<Block> unused;  // as in Drop
  absl::MutexLock lock(&mutex_);
  unused.swap(blocks_);
  closed_ = false;
  taken_ = 0;
}

void BlockQueue::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  Wake();
}

void BlockQueue::Drop() {
  std::deque<Block> unused;  // their slots' waker is called outside the lock
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  dropped_ = true;
  unused.swap(blocks_);
  Wake();
}

bool BlockQueue::dropped() const {
  absl::MutexLock lock(&mutex_);
  return dropped_;
}

uint64_t BlockQueue::taken() const {
  absl::MutexLock lock(&mutex_);
  return taken_;
}

bool BlockQueue::closed() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

bool BlockQueue::done() const {
  absl::MutexLock lock(&mutex_);
  return closed_ && blocks_.empty();
}

void BlockQueue::Wake() const {
  if (waker_) waker_();
}

}  // namespace tapedeck::services::storage_session
