// Which addresses an option allows; what storage nodes jobs may name adds to it is tested there.
#include "services/rpc/identity/address_patterns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tapedeck::services::identity {
namespace {

TEST(AddressPatternsTest, AreHostAndPort) {
  for (const char* pattern :
       {"deck:7400", "10.0.0.1:1", "[fd00::1]:65535", "*.lab.example:7400", "deck-*:*", "*:7400"}) {
    EXPECT_TRUE(AddressPatterns::CheckPattern(pattern).ok()) << pattern;
  }
  for (const char* pattern : {"", "deck", ":7400", "deck:", "deck:0", "deck:65536", "deck:74*",
                              "dns:///deck:7400", "a b:7400", "deck:7400,other:7400"}) {
    EXPECT_FALSE(AddressPatterns::CheckPattern(pattern).ok()) << pattern;
  }
  EXPECT_FALSE(AddressPatterns::CheckPattern(std::string(400, 'a') + ":1").ok());
  const std::vector<std::string> many(kMaxAddressPatterns + 1, "a:1");
  EXPECT_EQ(AddressPatterns::Parse("--some-allow", many).status().message(),
            "--some-allow is given 65 times; 64 are allowed");
}

TEST(AddressPatternsTest, NoneFitUnlessOneIsGiven) {
  EXPECT_FALSE(AddressPatterns().Fit("10.0.0.1:9"));
  EXPECT_EQ(AddressPatterns().Described(), "none");
  EXPECT_TRUE(AddressPatterns::Any().Fit("10.0.0.1:9"));
  EXPECT_EQ(AddressPatterns::Any().Described(), "any");
  const auto some = AddressPatterns::Parse("--some-allow", {"10.0.0.*:9", "[fd00::1]:*"});
  ASSERT_TRUE(some.ok()) << some.status();
  for (const char* address : {"10.0.0.1:9", "10.0.0.255:9", "[FD00::1]:1"}) {
    EXPECT_TRUE(some->Fit(address)) << address;
  }
  for (const char* address : {"10.0.1.1:9", "10.0.0.1:90", "[fd00::2]:1", "10.0.0.1", ""}) {
    EXPECT_FALSE(some->Fit(address)) << address;
  }
}

}  // namespace
}  // namespace tapedeck::services::identity
