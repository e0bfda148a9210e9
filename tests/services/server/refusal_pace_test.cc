#include "services/server/refusal_pace.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/time/clock.h"

namespace tapedeck::services::server {
namespace {

constexpr int kNever = 1;  // a second: no test takes so long

TEST(RefusalPaceTest, SoManyAtOnce) {
  RefusalPace pace({.per_second = kNever, .at_once = 3});
  int answered = 0;
  for (int i = 0; i < 3; ++i) pace.Answer([&] { ++answered; });
  EXPECT_EQ(answered, 3);
}

TEST(RefusalPaceTest, MoreAreHeldAndAFullHoldLetsThemGo) {
  std::atomic<int> answered = 0;
  RefusalPace pace({.per_second = kNever, .at_once = 3, .held = 2});
  for (int i = 0; i < 5; ++i) pace.Answer([&] { ++answered; });
  EXPECT_EQ(answered, 3);
  pace.Answer([&] { ++answered; });
  EXPECT_EQ(answered, 4);
}

TEST(RefusalPaceTest, StopGivesWhatIsHeldAndWhatComesLater) {
  std::atomic<int> answered = 0;
  RefusalPace pace({.per_second = kNever, .at_once = 1, .held = 100});
  for (int i = 0; i < 50; ++i) pace.Answer([&] { ++answered; });
  EXPECT_EQ(answered, 1);
  pace.Stop();
  EXPECT_EQ(answered, 50);
  for (int i = 0; i < 50; ++i) pace.Answer([&] { ++answered; });
  EXPECT_EQ(answered, 100);
}

TEST(RefusalPaceTest, WhatIsHeldGoesInOrderAtThePace) {
  constexpr int kAnswers = 100;
  std::vector<int> order;
  absl::BlockingCounter left(kAnswers);
  const absl::Time start = absl::Now();
  {
    RefusalPace pace({.per_second = 1000, .at_once = 1, .held = kAnswers});
    for (int i = 0; i < kAnswers; ++i) {
      pace.Answer([&, i] {
        order.push_back(i);
        left.DecrementCount();
      });
    }
    left.Wait();
  }
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(kAnswers - 1));
  for (int i = 0; i < kAnswers; ++i) EXPECT_EQ(order[i], i);
}

}  // namespace
}  // namespace tapedeck::services::server
