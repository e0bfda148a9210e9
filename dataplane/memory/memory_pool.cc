#include "dataplane/memory/memory_pool.h"

#include "absl/strings/str_cat.h"

namespace tapedeck::dataplane {

absl::StatusOr<std::shared_ptr<MemoryPool>> MemoryPool::Create(std::unique_ptr<Memory> memory,
                                                               size_t slot_bytes) {
  const size_t slots = slot_bytes == 0 ? 0 : memory->window().bytes.size() / slot_bytes;
  if (slots == 0) {
    return absl::InvalidArgumentError(absl::StrCat("MemoryPool: no slot of ", slot_bytes,
                                                   " bytes fits in ", memory->window().bytes.size(),
                                                   " bytes"));
  }
  return std::shared_ptr<MemoryPool>(new MemoryPool(std::move(memory), slot_bytes, slots));
}

MemoryPool::MemoryPool(std::unique_ptr<Memory> memory, size_t slot_bytes, size_t slots)
    : memory_(std::move(memory)), slot_bytes_(slot_bytes), slots_(slots) {
  absl::MutexLock lock(&mutex_);
  for (size_t i = slots; i > 0; --i) free_.push_back(static_cast<uint32_t>(i - 1));
}

std::optional<Block> MemoryPool::Take() {
  absl::MutexLock lock(&mutex_);
  if (free_.empty()) {
    starved_ = true;
    return std::nullopt;
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  return Block(shared_from_this(), slot,
               memory_->window().bytes.subspan(slot * slot_bytes_, slot_bytes_));
}

void MemoryPool::SetWaker(Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

void MemoryPool::ReturnSlot(uint32_t slot) {
  absl::MutexLock lock(&mutex_);
  free_.push_back(slot);
  if (starved_ && waker_) waker_();
  starved_ = false;
}

size_t MemoryPool::free_slots() const {
  absl::MutexLock lock(&mutex_);
  return free_.size();
}

}  // namespace tapedeck::dataplane
