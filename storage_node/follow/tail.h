// The newest blocks of a followed recording, in memory. So followers need not read from the disk
// that the node is writing. A follower's executor copies blocks out of their slots while the store
// writes them. The recording's executor never does. Followers read from the disk if a copy comes
// too late, or if a block does not fit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/block.h"
#include "dataplane/executor/executor.h"
#include "dataplane/memory/memory_pool.h"
#include "storage_node/follow/tail_memory.h"

namespace tapedeck::storage_node::follow {

struct FollowerOptions {
  dataplane::Executor* executor = nullptr;  // the copies are made here
  uint64_t block_bytes = 0;                 // the same for all followers of a recording
  std::shared_ptr<TailMemory> memory;
  uint64_t next = 0;  // the block it wants first
};

// Any thread. shared_ptr: a copy may be under way when the recording is gone.
class Tail : public std::enable_shared_from_this<Tail> {
 public:
  // By the writer, with a block to be stored, which it gets back. A copy that has begun delays the
  // return of the slot. One that has not does so only while half of the `ring_slots` are free: the
  // recording never waits for a follower.
  dataplane::Block Keep(dataplane::Block block, size_t ring_slots);

  // By the writer, when something could not be stored: followers read the files from now on.
  void Stop();

  // Blocks are kept from now until Detach. Both on the follower's executor.
  uint64_t Attach(FollowerOptions follower);
  void Detach(uint64_t follower);

  // Null if it is not here. The follower wants nothing before it any more. It may ask only for what
  // LiveRecording says is written: blocks are here before they are.
  std::shared_ptr<const dataplane::Block> Find(uint64_t follower, uint64_t sequence);

 private:
  struct SharedSlot;
  struct Offer {
    std::weak_ptr<SharedSlot> slot;    // gone once the block is stored
    std::shared_ptr<SharedSlot> held;  // keeps it all the same; may be null
  };

  void CopyNext();
  void Insert(dataplane::Block copy);
  std::optional<dataplane::Block> TakeSlot() ABSL_LOCKS_EXCLUDED(mutex_);
  std::optional<dataplane::Block> TakeFree() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<dataplane::Block> TakeOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropPassed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t NearestNext() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether a block that is kept now can still be here when a follower wants it.
  bool WithinReach(uint64_t next) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  std::atomic<bool> followed_ = false;
  // Slots given to the store and not returned.
  const std::shared_ptr<std::atomic<size_t>> slots_out_ = std::make_shared<std::atomic<size_t>>(0);
  absl::Mutex mutex_;
  std::map<uint64_t, FollowerOptions> followers_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_follower_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t newest_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Offer> offers_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::shared_ptr<const dataplane::Block>> kept_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<dataplane::MemoryPool>> slabs_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::follow
