#include "storage_node/store/memory/arena.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "services/base/errors.h"

namespace tapedeck::storage_node::store::memory {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(Arena, SlotsOfAllSizesNeverOverlapAndAllComeBack) {
  const auto arena = *Arena::Create(32 * kMiB);
  std::mt19937_64 random(7);
  const size_t sizes[] = {64 << 10, 192 << 10, kMiB, 3 * kMiB, 7 * kMiB, 8 * kMiB};
  std::map<uint64_t, size_t> held;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 3 != 0) {
      const size_t bytes = sizes[random() % std::size(sizes)];
      const auto offset = arena->Allocate(bytes);
      if (!offset.has_value()) continue;
      EXPECT_EQ(*offset % bytes, 0u);
      EXPECT_LE(*offset + bytes, arena->window().size());
      const auto next = held.lower_bound(*offset);
      if (next != held.end()) {
        ASSERT_LE(*offset + bytes, next->first);
      }
      if (next != held.begin()) {
        ASSERT_LE(std::prev(next)->first + std::prev(next)->second, *offset);
      }
      held[*offset] = bytes;
    } else if (!held.empty()) {
      auto it = held.lower_bound(random() % arena->window().size());
      if (it == held.end()) it = held.begin();
      arena->Free(it->first);
      held.erase(it);
    }
  }
  for (const auto& [offset, bytes] : held) arena->Free(offset);
  EXPECT_EQ(arena->allocated_bytes(), 0u);
  // Nothing was shredded: the whole window can be had again in the largest size.
  size_t slots = 0;
  while (arena->Allocate(8 * kMiB).has_value()) ++slots;
  EXPECT_EQ(slots, arena->window().size() / (8 * kMiB));
}

TEST(Arena, MoreThanTheMachineHasIsRefused) {
  const auto arena = Arena::Create(uint64_t{1} << 46);
  EXPECT_TRUE(absl::IsResourceExhausted(arena.status()));
  EXPECT_EQ(services::ReasonOf(arena.status())->reason, "LIMIT_REACHED");
}

}  // namespace
}  // namespace tapedeck::storage_node::store::memory
