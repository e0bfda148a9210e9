#include "dataplane/memory/memory_pool.h"

#include "absl/strings/str_cat.h"

namespace tapedeck::dataplane {

absl::StatusOr<std::shared_ptr<MemoryPool>> MemoryPool::Create(std::unique_ptr<Memory> memory,
                                                               size_t slot_bytes, size_t run) {
  const size_t run_bytes = slot_bytes * run;
  const size_t runs = run_bytes == 0 ? 0 : memory->window().bytes.size() / run_bytes;
  if (runs == 0) {
    return absl::InvalidArgumentError(absl::StrCat("MemoryPool: no ", run, " slots of ", slot_bytes,
                                                   " bytes fit in ", memory->window().bytes.size(),
                                                   " bytes"));
  }
  return std::shared_ptr<MemoryPool>(new MemoryPool(std::move(memory), slot_bytes, run, runs));
}

MemoryPool::MemoryPool(std::unique_ptr<Memory> memory, size_t slot_bytes, size_t run, size_t runs)
    : memory_(std::move(memory)), slot_bytes_(slot_bytes), run_(run), slots_(run * runs) {
  absl::MutexLock lock(&mutex_);
  for (size_t i = runs; i > 0; --i) free_runs_.push_back(static_cast<uint32_t>(i - 1));
  to_come_.resize(runs);
}

std::optional<Block> MemoryPool::Take() {
  absl::MutexLock lock(&mutex_);
  if (left_ == 0) {
    if (free_runs_.empty()) {
      starved_ = true;
      return std::nullopt;
    }
    const uint32_t run = free_runs_.back();
    free_runs_.pop_back();
    to_come_[run] = static_cast<uint32_t>(run_);
    next_ = static_cast<uint32_t>(run * run_);
    left_ = run_;
  }
  --left_;
  const uint32_t slot = next_++;
  return Block(shared_from_this(), slot,
               memory_->window().bytes.subspan(slot * slot_bytes_, slot_bytes_));
}

void MemoryPool::SetWaker(Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

void MemoryPool::ReturnSlot(uint32_t slot) {
  absl::MutexLock lock(&mutex_);
  const auto run = static_cast<uint32_t>(slot / run_);
  if (--to_come_[run] != 0) return;
  free_runs_.push_back(run);
  if (starved_ && waker_) waker_();
  starved_ = false;
}

size_t MemoryPool::free_slots() const {
  absl::MutexLock lock(&mutex_);
  return free_runs_.size() * run_ + left_;
}

}  // namespace tapedeck::dataplane
