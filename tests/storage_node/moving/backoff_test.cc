#include "storage_node/moving/backoff.h"

#include <gtest/gtest.h>

namespace tapedeck::storage_node::moving {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TEST(Backoff, HoldsLongerEachTimeUntilItEnds) {
  Backoff backoff;
  EXPECT_FALSE(backoff.Holds("c", 0));
  for (const int64_t seconds : {10, 20, 40, 80, 160, 320, 600, 600}) {
    EXPECT_EQ(backoff.Failed("c", 0), absl::Seconds(seconds));
    EXPECT_TRUE(backoff.Holds("c", seconds * kSecondNs - 1));
    EXPECT_FALSE(backoff.Holds("c", seconds * kSecondNs));
  }
  backoff.Ended("c");
  EXPECT_FALSE(backoff.Holds("c", 0));
}

TEST(Backoff, ForgetsWhatIsNoMore) {
  Backoff backoff;
  for (const char* name : {"c", "c/1", "c/2", "d/1"}) backoff.Failed(name, 0);
  backoff.KeepOnly("c/", {"c/2"});
  EXPECT_EQ(backoff.size(), 3u);
  EXPECT_FALSE(backoff.Holds("c/1", 1));
  for (const char* name : {"c", "c/2", "d/1"}) EXPECT_TRUE(backoff.Holds(name, 1)) << name;
}

}  // namespace
}  // namespace tapedeck::storage_node::moving
