// A block that several may hold at once: its slot goes back when the last of them lets go.
#pragma once

#include <memory>
#include <utility>

#include "dataplane/block.h"

namespace tapedeck::services::parts {

class LentBlock final : public dataplane::SlotOwner,
                        public std::enable_shared_from_this<LentBlock> {
 public:
  explicit LentBlock(dataplane::Block block) : block_(std::move(block)) {}

  dataplane::Block Lend() {
    dataplane::Block lent(shared_from_this(), block_.slot(), block_.memory());
    lent.header() = block_.header();
    return lent;
  }
  const dataplane::BlockHeader& header() const { return block_.header(); }

  void ReturnSlot(uint32_t) override {}

 private:
  const dataplane::Block block_;
};

}  // namespace tapedeck::services::parts
