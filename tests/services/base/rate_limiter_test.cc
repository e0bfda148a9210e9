#include "services/base/rate_limiter.h"

#include <gtest/gtest.h>

#include "dataplane/clock.h"
#include "services/rpc/session_stream/control_streams.h"

namespace tapedeck::services {
namespace {

constexpr RateLimit kLimit{.each_ns = 100, .at_once = 3};
constexpr int64_t kNowNs = 1'000 * dataplane::kSecondNs;

TEST(RateLimiter, LetsSomePassAtOnceAndMoreAtThePace) {
  RateLimiter limiter;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.Take(kLimit, kNowNs), 0) << i;
  EXPECT_EQ(limiter.Take(kLimit, kNowNs), 100);
  EXPECT_EQ(limiter.Take(kLimit, kNowNs + 99), 1) << "a refused one does not count";
  EXPECT_EQ(limiter.Take(kLimit, kNowNs + 100), 0);
  EXPECT_EQ(limiter.Take(kLimit, kNowNs + 100), 100);
  EXPECT_FALSE(limiter.IsQuiet(kLimit, kNowNs + 399));
  EXPECT_TRUE(limiter.IsQuiet(kLimit, kNowNs + 400));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.Take(kLimit, kNowNs + 1'000'000), 0) << i;
  EXPECT_EQ(limiter.Take(kLimit, kNowNs + 1'000'000), 100) << "time saves up no more than at_once";
}

TEST(RateLimiter, WhatHasHappenedCountsUpToTheLongestWait) {
  RateLimiter limiter;
  EXPECT_EQ(limiter.WaitNs(kNowNs), 0);
  for (int i = 0; i < 3; ++i) limiter.Count(kLimit, kNowNs, 250);
  EXPECT_EQ(limiter.WaitNs(kNowNs), 0);
  limiter.Count(kLimit, kNowNs, 250);
  EXPECT_EQ(limiter.WaitNs(kNowNs), 100);
  for (int i = 0; i < 1'000; ++i) limiter.Count(kLimit, kNowNs, 250);
  EXPECT_EQ(limiter.WaitNs(kNowNs), 250);
  EXPECT_EQ(limiter.WaitNs(kNowNs + 250), 0);
}

TEST(RateLimiters, KeysBeyondTheMostShareOneAndPlacesComeBack) {
  RateLimiters limiters(2);
  const auto drain = [&](const std::string& key, int64_t now_ns) {
    int taken = 0;
    while (limiters.Take(key, kLimit, now_ns) == 0) ++taken;
    return taken;
  };
  EXPECT_EQ(drain("ann", kNowNs), 3);
  EXPECT_EQ(drain("bob", kNowNs), 3) << "nobody waits for another";
  EXPECT_EQ(drain("cat", kNowNs), 3);
  EXPECT_EQ(drain("dan", kNowNs), 0) << "shares with cat";
  EXPECT_EQ(limiters.WaitNs("eve", kNowNs), 0);
  limiters.Count("eve", kLimit, kNowNs, 1'000);
  EXPECT_EQ(limiters.WaitNs("eve", kNowNs), 100);
  EXPECT_EQ(limiters.WaitNs("ann", kNowNs), 0);
  EXPECT_EQ(drain("dan", kNowNs + 1'000), 3);
  EXPECT_EQ(drain("eve", kNowNs + 1'000), 3) << "each has a place of its own";
}

TEST(CallerKey, AnIdentityCountsForItselfAndAStrangerForItsHost) {
  using session_stream::CallerKey;
  EXPECT_EQ(CallerKey("spiffe://lab/ann", "ipv4:10.0.0.1:33012"), "spiffe://lab/ann");
  EXPECT_EQ(CallerKey("", "ipv4:10.0.0.1:33012"), "ipv4:10.0.0.1");
  EXPECT_EQ(CallerKey("", "ipv6:%5B::1%5D:33012"), "ipv6:%5B::1%5D");
}

}  // namespace
}  // namespace tapedeck::services
