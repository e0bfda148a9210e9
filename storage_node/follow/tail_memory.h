// The memory of all tails of a node, in slabs. A thread of its own makes the next slabs resident
// before a tail asks for them. So no executor of a recording or a follower waits for pages. While
// nobody follows, there are no slabs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::storage_node::follow {

// Any thread. shared_ptr: every slab keeps it.
class TailMemory : public std::enable_shared_from_this<TailMemory> {
 public:
  // `limit_bytes` > 0; whole slabs are used. RESOURCE_EXHAUSTED (LIMIT_REACHED): there is no thread
  // left.
  static absl::StatusOr<std::shared_ptr<TailMemory>> Create(uint64_t limit_bytes);
  ~TailMemory();

  uint64_t limit_bytes() const { return limit_bytes_; }
  // Resident now.
  uint64_t bytes() const {
    absl::MutexLock lock(&mutex_);
    return (lent_ + ready_.size()) * slab_bytes_;
  }

  // A slab, or null: then one is on its way, unless the limit or the machine's memory is used up,
  // which is logged. It comes back when it is destroyed. Never waits.
  std::unique_ptr<dataplane::Memory> Take();

 private:
  class Slab;
  explicit TailMemory(uint64_t limit_bytes);
  void Run();
  // Until one more slab shall be made; false: this ends.
  bool WaitUntilNeeded();
  void Refuse(const std::string& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Return(std::unique_ptr<dataplane::Memory> memory);
  bool has_work() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || asked_; }

  const uint64_t limit_bytes_;
  const uint64_t slab_bytes_;
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<dataplane::Memory>> ready_ ABSL_GUARDED_BY(mutex_);
  size_t lent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;    // since enough were ready
  bool refused_ ABSL_GUARDED_BY(mutex_) = false;  // one, and said so
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::storage_node::follow
