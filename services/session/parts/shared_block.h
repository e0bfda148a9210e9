// One block that several parts get, from its one slot.
#pragma once

#include <memory>
#include <utility>

#include "dataplane/block/block.h"

namespace tapedeck::services::parts {

// Held by shared_ptr: by the dealer, and by each loan. Its slot is returned when the last of them
// has gone, on whatever thread that is.
class SharedBlock : public std::enable_shared_from_this<SharedBlock> {
 public:
  explicit SharedBlock(dataplane::Block block) : block_(std::move(block)) {}

  const dataplane::BlockHeader& header() const { return block_.header(); }

  // The same memory, and a header of its own.
  dataplane::Block Lend() {
    dataplane::Block loan(std::make_shared<Loan>(shared_from_this()), block_.slot(),
                          block_.memory());
    loan.header() = block_.header();
    return loan;
  }

 private:
  class Loan final : public dataplane::SlotOwner {
   public:
    explicit Loan(std::shared_ptr<SharedBlock> block) : block_(std::move(block)) {}
    void ReturnSlot(uint32_t /*slot*/) override {}

   private:
    const std::shared_ptr<SharedBlock> block_;
  };

  dataplane::Block block_;
};

}  // namespace tapedeck::services::parts
