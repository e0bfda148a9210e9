// A block whose slot several read at the same time.
#pragma once

#include <memory>
#include <utility>

#include "dataplane/block/block.h"

namespace tapedeck::dataplane {

// Held by shared_ptr: by whoever shares it, and by each loan. Its slot is returned when the last of
// them has gone, on whatever thread that is.
class SharedBlock : public std::enable_shared_from_this<SharedBlock> {
 public:
  explicit SharedBlock(Block block) : block_(std::move(block)) {}

  const BlockHeader& header() const { return block_.header(); }

  // The same memory, and a header of its own. Any thread may have it.
  Block Lend() {
    Block loan(std::make_shared<Loan>(shared_from_this()), block_.slot(), block_.memory());
    loan.header() = block_.header();
    return loan;
  }

  // The block itself, once no loan is left.
  Block TakeBack() { return std::move(block_); }

 private:
  class Loan final : public SlotOwner {
   public:
    explicit Loan(std::shared_ptr<SharedBlock> block) : block_(std::move(block)) {}
    void ReturnSlot(uint32_t /*slot*/) override {}

   private:
    const std::shared_ptr<SharedBlock> block_;
  };

  Block block_;
};

}  // namespace tapedeck::dataplane
