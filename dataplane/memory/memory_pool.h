// The ring of every session: a Memory cut into equal slots, lent last in, first out. So a ring that
// is mostly idle keeps its working set in the cache. If the pool lends slots in runs of several, it
// lends a run again once all of it has come back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/slot_pool.h"

namespace tapedeck::dataplane {

// Any thread. Owned by shared_ptr because every lent Block keeps it alive.
class MemoryPool final : public SlotPool, public std::enable_shared_from_this<MemoryPool> {
 public:
  // Uses as many whole runs of slots as fit. INVALID_ARGUMENT if none does.
  static absl::StatusOr<std::shared_ptr<MemoryPool>> Create(std::unique_ptr<Memory> memory,
                                                            size_t slot_bytes, size_t run = 1);

  std::optional<Block> Take() override;
  void SetWaker(Waker waker) override;
  MemoryWindow window() const override { return memory_->window(); }
  size_t slot_bytes() const override { return slot_bytes_; }
  size_t slots() const override { return slots_; }
  size_t run() const override { return run_; }
  void ReturnSlot(uint32_t slot) override;

  size_t free_slots() const;

 private:
  MemoryPool(std::unique_ptr<Memory> memory, size_t slot_bytes, size_t run, size_t runs);

  const std::unique_ptr<Memory> memory_;
  const size_t slot_bytes_;
  const size_t run_;
  const size_t slots_;
  mutable absl::Mutex mutex_;
  std::vector<uint32_t> free_runs_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint32_t> to_come_ ABSL_GUARDED_BY(mutex_);  // by run: slots that are not back
  uint32_t next_ ABSL_GUARDED_BY(mutex_) = 0;              // slot of the run that is being lent
  size_t left_ ABSL_GUARDED_BY(mutex_) = 0;                // of that run
  Waker waker_ ABSL_GUARDED_BY(mutex_);
  bool starved_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tapedeck::dataplane
