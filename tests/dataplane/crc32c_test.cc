#include "dataplane/crc/crc32c.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace tapedeck::dataplane {
namespace {

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::byte> Random(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// RFC 3720 appendix B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c(Bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::vector<std::byte>(32, std::byte{0})), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43u);
  EXPECT_EQ(Crc32c({}), 0u);
}

TEST(Crc32c, ExtendAndCombineAgreeWithOnePass) {
  const std::vector<std::byte> all = Random(100'000, 1);
  const uint32_t whole = Crc32c(all);
  std::mt19937 random(2);
  for (int i = 0; i < 1000; ++i) {
    const size_t cut = random() % (all.size() + 1);
    const auto a = std::span(all).first(cut);
    const auto b = std::span(all).subspan(cut);
    ASSERT_EQ(Crc32cExtend(Crc32c(a), b), whole);
    ASSERT_EQ(Crc32cCombine(Crc32c(a), Crc32c(b), b.size()), whole);
  }
}

TEST(Crc32c, FindsEveryOneBitFlipOfABlock) {
  std::vector<std::byte> block = Random(64 << 10, 3);
  const uint32_t good = Crc32c(block);
  for (size_t bit = 0; bit < block.size() * 8; bit += 37) {
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    ASSERT_NE(Crc32c(block), good);
    block[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace tapedeck::dataplane
