#include "storage_node/store/rados/lent_block.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tapedeck::storage_node::store::rados {
namespace {

// A ring of one slot.
class OneSlot final : public dataplane::SlotOwner {
 public:
  void ReturnSlot(uint32_t /*slot*/) override { ++returned; }

  std::array<std::byte, 4096> memory = {};
  int returned = 0;
};

// What stands for the library holds a reference, as its messages do.
class LentBlockTest : public testing::Test {
 protected:
  dataplane::Block NewBlock(uint32_t payload_bytes = 4096) {
    dataplane::Block block(ring_, 0, ring_->memory);
    block.header().payload_bytes = payload_bytes;
    return block;
  }

  const std::shared_ptr<OneSlot> ring_ = std::make_shared<OneSlot>();
  LentShelf shelf_;
};

TEST_F(LentBlockTest, LendsThePayloadWhereItLies) {
  LentBlock lent(NewBlock(100), shelf_);
  ring_->memory[99] = std::byte{7};
  const librados::bufferlist list = lent.Lend();
  EXPECT_EQ(list.length(), 100U);
  EXPECT_EQ(list.front().raw_c_str(), reinterpret_cast<const char*>(ring_->memory.data()));
  EXPECT_EQ(list[99], 7);
}

TEST_F(LentBlockTest, TheBlockComesBackOnceTheLibraryHasLetGo) {
  LentBlock lent(NewBlock(), shelf_);
  auto library = std::make_optional(lent.Lend());
  EXPECT_TRUE(lent.held());
  library.reset();
  EXPECT_FALSE(lent.held());
  dataplane::Block block = lent.Take();
  EXPECT_FALSE(block.empty());
  EXPECT_EQ(ring_->returned, 0);
  block.Reset();
  EXPECT_EQ(ring_->returned, 1);
  EXPECT_EQ(shelf_.kept(), 0U);
}

TEST_F(LentBlockTest, ASlotThatIsHeldGoesBackByTheShelf) {
  LentBlock lent(NewBlock(), shelf_);
  auto library = std::make_optional(lent.Lend());
  EXPECT_TRUE(lent.Take().empty());
  shelf_.Sweep();
  EXPECT_EQ(ring_->returned, 0);
  EXPECT_EQ(shelf_.kept(), 1U);
  library.reset();
  shelf_.Sweep();
  EXPECT_EQ(ring_->returned, 1);
  EXPECT_EQ(shelf_.kept(), 0U);
}

TEST_F(LentBlockTest, EveryTryIsCounted) {
  LentBlock lent(NewBlock(), shelf_);
  auto first = std::make_optional(lent.Lend());
  lent.Lend();
  EXPECT_EQ(lent.tries(), 2U);
  EXPECT_TRUE(lent.held());
  first.reset();
  EXPECT_FALSE(lent.held());
}

TEST_F(LentBlockTest, WhatEndsUntakenIsNotReturnedEarlier) {
  std::optional<librados::bufferlist> library;
  {
    LentBlock lent(NewBlock(), shelf_);
    library = lent.Lend();
  }
  shelf_.Sweep();
  EXPECT_EQ(ring_->returned, 0);
  library.reset();
  shelf_.Sweep();
  EXPECT_EQ(ring_->returned, 1);
}

}  // namespace
}  // namespace tapedeck::storage_node::store::rados
