#include "storage_node/follow/copy_past_caches.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tapedeck::storage_node {
namespace {

TEST(CopyPastCaches, CopiesAllAndNoMore) {
  constexpr std::byte kUntouched{0xee};
  for (const size_t offset : {0, 1, 16}) {
    for (const size_t bytes : {0, 1, 63, 64, 65, 4096, (1 << 20) + 3}) {
      std::vector<std::byte> from(bytes + offset);
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
      std::vector<std::byte> to(bytes + offset + 64, kUntouched);
      follow::CopyPastCaches(std::span(from).subspan(offset), std::span(to).subspan(offset));
      for (size_t i = 0; i < to.size(); ++i) {
        const bool copied = i >= offset && i < offset + bytes;
        ASSERT_EQ(to[i], copied ? from[i] : kUntouched) << bytes << " bytes, byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tapedeck::storage_node
