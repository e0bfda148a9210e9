// The memory of a memory LUN, faulted in at creation. The arena cuts it into slots of whatever
// sizes its channels have. It takes slots of one size in runs of about 8 MiB, so that sizes do not
// shred each other's space.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/slot_pool.h"

namespace tapedeck::storage_node::store::memory {

// Any thread. Held by shared_ptr: every stored or lent slot keeps it.
class Arena {
 public:
  // Room for `capacity_bytes` of blocks. Beyond it lies address space, without pages until it is
  // used, for the slots that rings hold while the LUN is nearly full. RESOURCE_EXHAUSTED if the
  // machine has less memory available.
  static absl::StatusOr<std::shared_ptr<Arena>> Create(uint64_t capacity_bytes);
  ~Arena();

  std::span<std::byte> window() const { return window_; }
  std::span<std::byte> slot(uint64_t offset, size_t slot_bytes) const {
    return window_.subspan(offset, slot_bytes);
  }

  // Offset of a free slot, a multiple of `slot_bytes`; none if the arena is full.
  std::optional<uint64_t> Allocate(size_t slot_bytes);
  void Free(uint64_t offset);

  uint64_t allocated_bytes() const;

 private:
  struct Run {
    size_t slot_bytes = 0;
    size_t slots = 0;
    std::vector<uint64_t> free;  // offsets
  };

  explicit Arena(std::span<std::byte> window);
  bool AddRun(size_t slot_bytes, size_t slots) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddExtent(uint64_t offset, uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::span<std::byte> window_;
  mutable absl::Mutex mutex_;
  std::map<uint64_t, uint64_t> extents_ ABSL_GUARDED_BY(mutex_);  // offset → bytes, in no run
  std::map<uint64_t, Run> runs_ ABSL_GUARDED_BY(mutex_);          // by offset
  // Runs with a free slot, by slot size, lowest first: the headroom is touched last.
  std::map<size_t, std::set<uint64_t>> open_runs_ ABSL_GUARDED_BY(mutex_);
  uint64_t allocated_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A ring whose slots are free memory of the arena: what the network put there is already stored. A
// recording adopts a filled slot and the ring gets a fresh one, so a ring never holds more than its
// number of slots.
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
