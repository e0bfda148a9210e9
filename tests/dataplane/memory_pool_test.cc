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
