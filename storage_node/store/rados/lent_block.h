// Payload that librados sends from its slot of the ring, without a copy. librados may hold that
// memory beyond its answer. An example is an operation that timed out while its message waits for
// an OSD that hangs. During that time the slot must not change, and its ring must not go. So
// librados' own references count the lent memory, and a shelf keeps a slot that is still held.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <rados/librados.hpp>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/block.h"

namespace tapedeck::storage_node::store::rados {

// One for each try. Librados keeps checksums of what it was given: a try needs one of its own.
using Lendings = std::vector<ceph::bufferptr>;

// Slots that are held for longer than their operation; at most those of the rings. Any thread.
// Outlives the client: what it still holds then, it lets go of by ending.
class LentShelf {
 public:
  void Keep(dataplane::Block block, Lendings lendings);

  // Returns the slots that are held no more.
  void Sweep();

  size_t kept() const { return count_; }

 private:
  struct LentSlot {
    dataplane::Block block;
    Lendings lendings;
  };
  absl::Mutex mutex_;
  std::vector<LentSlot> kept_ ABSL_GUARDED_BY(mutex_);
  std::atomic<size_t> count_ = 0;  // so that a sweep of nothing costs no lock
};

// One thread at a time.
class LentBlock {
 public:
  LentBlock(dataplane::Block block, LentShelf& shelf) : block_(std::move(block)), shelf_(&shelf) {}
  LentBlock(LentBlock&&) = default;
  LentBlock& operator=(LentBlock&&) = delete;
  ~LentBlock() { Take(); }

  // The payload, for an operation. It must not change until this is gone.
  librados::bufferlist Lend();

  size_t payload_bytes() const { return block_.payload().size(); }
  size_t tries() const { return lendings_.size(); }

  // Whether librados holds what it was given in any try.
  bool held() const;

  // The block; an empty one if it is held, and then the slot goes back by way of the shelf.
  dataplane::Block Take();

 private:
  dataplane::Block block_;
  Lendings lendings_;
  LentShelf* shelf_;
};

}  // namespace tapedeck::storage_node::store::rados
