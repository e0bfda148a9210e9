// A SlotPool lends the slots of one memory window as Blocks. The window is what a session
// registers, once.
#pragma once

#include <optional>

#include "dataplane/block/block.h"
#include "dataplane/block/flow.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::dataplane {

// Any thread.
class SlotPool : public SlotOwner {
 public:
  // A free slot as a Block with an empty header, or none; then the waker is called once a slot is
  // free.
  virtual std::optional<Block> Take() = 0;

  // Replaces the waker. Null removes it; no call is under way once this returns.
  virtual void SetWaker(Waker waker) = 0;

  // Slot i lies at window().bytes[i * slot_bytes()].
  virtual MemoryWindow window() const = 0;
  virtual size_t slot_bytes() const = 0;

  // Slots that may be lent at the same time.
  virtual size_t slots() const = 0;

  // Whoever is the only taker gets this many neighbours, one after the other in their order, before
  // slots elsewhere.
  virtual size_t run() const { return 1; }
};

}  // namespace tapedeck::dataplane
