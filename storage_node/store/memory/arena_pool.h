// A ring whose slots are free memory of the arena: data from the network is already stored there. A
// recording adopts a filled slot and the ring gets a fresh one. So a ring never holds more than its
// number of slots.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/store/memory/arena.h"

namespace tapedeck::storage_node::store::memory {

// Any thread. Held by shared_ptr: every lent Block keeps it.
class ArenaPool final : public dataplane::SlotPool, public std::enable_shared_from_this<ArenaPool> {
 public:
  // RESOURCE_EXHAUSTED (LUN_FULL) if the arena has no such slots. 0 slots make a ring that lends
  // none: blocks that are played lie in the arena already, and only its window is needed.
  static absl::StatusOr<std::shared_ptr<ArenaPool>> Create(std::shared_ptr<Arena> arena,
                                                           size_t slots, size_t slot_bytes,
                                                           size_t nominal_slots);
  ~ArenaPool() override;

  std::optional<dataplane::Block> Take() override;
  void SetWaker(dataplane::Waker waker) override;
  dataplane::MemoryWindow window() const override { return {.bytes = arena_->window()}; }
  size_t slot_bytes() const override { return slot_bytes_; }
  size_t slots() const override { return slots_; }
  void ReturnSlot(uint32_t slot) override;

  // A lent slot is about to stay with a recording: gets a fresh one in its place. False if the
  // arena is full; then the slot must come back.
  bool Replace();

 private:
  ArenaPool(std::shared_ptr<Arena> arena, size_t slots, size_t slot_bytes)
      : arena_(std::move(arena)), slots_(slots), slot_bytes_(slot_bytes) {}
  void AddSlot(uint64_t offset);

  const std::shared_ptr<Arena> arena_;
  const size_t slots_;
  const size_t slot_bytes_;
  absl::Mutex mutex_;
  std::deque<uint64_t> free_ ABSL_GUARDED_BY(mutex_);  // offsets
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
  bool starved_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tapedeck::storage_node::store::memory
