#include "storage_node/store/memory/arena_pool.h"

#include "absl/strings/str_cat.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store::memory {

absl::StatusOr<std::shared_ptr<ArenaPool>> ArenaPool::Create(std::shared_ptr<Arena> arena,
                                                             size_t slots, size_t slot_bytes,
                                                             size_t nominal_slots) {
  std::shared_ptr<ArenaPool> pool(new ArenaPool(arena, nominal_slots, slot_bytes));
  for (size_t i = 0; i < slots; ++i) {
    const std::optional<uint64_t> offset = arena->Allocate(slot_bytes);
    if (!offset.has_value()) {
      return disk::MemberFull(
          "memory", absl::StrCat("memory LUN: no space for a ring of ", slots, " slots of ",
                                 slot_bytes, " bytes; delete recordings or end sessions"));
    }
    pool->AddSlot(*offset);
  }
  return pool;
}

ArenaPool::~ArenaPool() {
  absl::MutexLock lock(&mutex_);
  for (const uint64_t offset : free_) arena_->Free(offset);
}

std::optional<dataplane::Block> ArenaPool::Take() {
  absl::MutexLock lock(&mutex_);
  if (free_.empty()) {
    starved_ = true;
    return std::nullopt;
  }
  const uint64_t offset = free_.front();
  free_.pop_front();
  return dataplane::Block(shared_from_this(), static_cast<uint32_t>(offset / slot_bytes_),
                          arena_->slot(offset, slot_bytes_));
}

void ArenaPool::SetWaker(dataplane::Waker waker) {
  absl::MutexLock lock(&mutex_);
  waker_ = std::move(waker);
}

void ArenaPool::ReturnSlot(uint32_t slot) { AddSlot(uint64_t{slot} * slot_bytes_); }

bool ArenaPool::Replace() {
  const std::optional<uint64_t> offset = arena_->Allocate(slot_bytes_);
  if (offset.has_value()) AddSlot(*offset);
  return offset.has_value();
}

void ArenaPool::AddSlot(uint64_t offset) {
  absl::MutexLock lock(&mutex_);
  free_.push_back(offset);
  if (starved_ && waker_) waker_();
  starved_ = false;
}

}  // namespace tapedeck::storage_node::store::memory
