// The memory of a memory LUN, faulted in at creation. The arena cuts it into slots of whatever
// sizes its channels have. It takes slots of one size in runs of about 8 MiB, so that sizes do not
// shred each other's space.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

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

}  // namespace tapedeck::storage_node::store::memory
