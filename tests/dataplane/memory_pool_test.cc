#include "dataplane/memory/memory_pool.h"

#include <gtest/gtest.h>

#include <set>

#include "dataplane/memory/host/memory.h"

namespace tapedeck::dataplane {
namespace {

std::shared_ptr<MemoryPool> NewPool(size_t slots) {
  return *MemoryPool::Create(*host::Create(slots * 4096), 4096);
}

TEST(MemoryPool, LendsEachSlotOnceAndTakesItBack) {
  const auto pool = NewPool(4);
  std::vector<Block> out;
  std::set<std::byte*> places;
  while (auto block = pool->Take()) {
    places.insert(block->memory().data());
    EXPECT_EQ(block->memory().data(),
              pool->window().bytes.data() + block->slot() * pool->slot_bytes());
    out.push_back(*std::move(block));
  }
  EXPECT_EQ(places.size(), 4u);
  EXPECT_EQ(pool->free_slots(), 0u);
  out.clear();
  EXPECT_EQ(pool->free_slots(), 4u);
}

TEST(MemoryPool, LendsNeighboursInTheirOrder) {
  const auto pool = *MemoryPool::Create(*host::Create(7 * 4096), 4096, /*run=*/3);
  EXPECT_EQ(pool->slots(), 6u);
  std::vector<Block> out;
  while (auto block = pool->Take()) out.push_back(*std::move(block));
  ASSERT_EQ(out.size(), 6u);
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].memory().data(), out[i / 3 * 3].memory().data() + i % 3 * 4096) << i;
  }
}

TEST(MemoryPool, LendsARunAgainOnceAllOfItIsBack) {
  const auto pool = *MemoryPool::Create(*host::Create(2 * 4096), 4096, /*run=*/2);
  int wakes = 0;
  pool->SetWaker([&] { ++wakes; });
  Block first = *pool->Take();
  // Also where it comes back before its neighbour has been lent.
  first.Reset();
  EXPECT_EQ(pool->free_slots(), 1u);
  Block second = *pool->Take();
  EXPECT_EQ(second.slot(), 1u);
  EXPECT_FALSE(pool->Take().has_value());
  EXPECT_EQ(wakes, 0);
  second.Reset();
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(pool->Take()->slot(), 0u);
}

TEST(MemoryPool, WakesOnceAfterItWasEmpty) {
  const auto pool = NewPool(1);
  int wakes = 0;
  pool->SetWaker([&] { ++wakes; });
  Block block = *pool->Take();
  EXPECT_FALSE(pool->Take().has_value());
  block.Reset();
  EXPECT_EQ(wakes, 1);
  block = *pool->Take();
  block.Reset();  // nobody was refused meanwhile
  EXPECT_EQ(wakes, 1);
}

TEST(MemoryPool, OutlivesItsOwnerWhileABlockIsOut) {
  auto pool = NewPool(1);
  Block block = *pool->Take();
  pool.reset();
  block.memory()[0] = std::byte{1};
  block.Reset();
}

TEST(MemoryPool, RefusesSlotsThatDoNotFit) {
  EXPECT_EQ(MemoryPool::Create(*host::Create(4096), 8192).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Block, MovesItsLoan) {
  const auto pool = NewPool(2);
  Block a = *pool->Take();
  a.header().sequence = 9;
  Block b = std::move(a);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): which is a promise
  EXPECT_EQ(b.header().sequence, 9u);
  b = *pool->Take();  // returns the first
  EXPECT_EQ(pool->free_slots(), 1u);
}

TEST(Block, MissingHasNoPayload) {
  const Block block = Block::Missing({.sequence = 3, .payload_bytes = 100, .crc32c = 1});
  EXPECT_FALSE(block.empty());
  EXPECT_TRUE(block.payload().empty());
  EXPECT_EQ(block.header().flags, kBlockMissing);
}

}  // namespace
}  // namespace tapedeck::dataplane
