// The keys of encrypted connections: HKDF as RFC 5869 has it, and never the same twice.
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "dataplane/transport/tcp/keys.h"

namespace tapedeck::dataplane::tcp {
namespace {

using Bytes = std::vector<uint8_t>;

// first, first + 1, ...
Bytes Counted(uint8_t first, size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

std::string Hkdf(const Bytes& secret, const Bytes& salt, const Bytes& info, size_t size) {
  std::string out(size, '\0');
  const absl::Status status =
      HkdfSha256(secret, salt, info, {reinterpret_cast<uint8_t*>(out.data()), out.size()});
  EXPECT_TRUE(status.ok()) << status;
  return absl::BytesToHexString(out);
}

TEST(TcpKeys, AreMadeAsTheVectorsOfRfc5869) {
  const Bytes secret(22, 0x0b);
  EXPECT_EQ(Hkdf(secret, Counted(0, 13), Counted(0xf0, 10), 42),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  EXPECT_EQ(Hkdf(Counted(0, 80), Counted(0x60, 80), Counted(0xb0, 80), 82),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41"
            "c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87");
  EXPECT_EQ(Hkdf(secret, {}, {}, 42),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(TcpKeys, MoreThanHkdfGivesIsAnError) {
  Bytes out(255 * 32 + 1);
  EXPECT_EQ(HkdfSha256(Bytes(32), {}, {}, out).code(), absl::StatusCode::kInternal);
}

TEST(TcpKeys, WhatOneEndSendsWithTheOtherReceivesWith) {
  const KeyMaterial material{.secret = {1}, .listener = {2}, .caller = {3}};
  const auto listener = DeriveKeys(material, Side::kListener);
  const auto caller = DeriveKeys(material, Side::kCaller);
  ASSERT_TRUE(listener.ok() && caller.ok());
  EXPECT_EQ(listener->send, caller->receive);
  EXPECT_EQ(listener->receive, caller->send);
}

// One bit of the secret or of either end's token, and the direction, make another key, salt and
// initial vector: so a connection that is made again has others, even if one end repeats itself.
TEST(TcpKeys, DifferWithEachThingThatTheyAreMadeOf) {
  std::vector<KeyMaterial> materials(1);
  for (size_t bit = 0; bit < 8 * kSecretBytes; ++bit) {
    materials.emplace_back().secret[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  for (size_t bit = 0; bit < 8 * kTokenBytes; ++bit) {
    materials.emplace_back().listener[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    materials.emplace_back().caller[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  std::set<std::array<uint8_t, 16>> keys;
  std::set<std::array<uint8_t, 12>> vectors;
  for (const KeyMaterial& material : materials) {
    const auto derived = DeriveKeys(material, Side::kCaller);
    ASSERT_TRUE(derived.ok()) << derived.status();
    for (const DirectionKeys& direction : {derived->send, derived->receive}) {
      keys.insert(direction.key);
      std::array<uint8_t, 12> vector;
      std::ranges::copy(direction.iv, std::ranges::copy(direction.salt, vector.begin()).out);
      vectors.insert(vector);
    }
  }
  EXPECT_EQ(keys.size(), 2 * materials.size());
  EXPECT_EQ(vectors.size(), 2 * materials.size());
}

}  // namespace
}  // namespace tapedeck::dataplane::tcp
