#include "services/rpc/server/refusal_pace.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "dataplane/now.h"

namespace tapedeck::services::server {
namespace {

constexpr int kNever = 1;  // a second: no test takes so long

TEST(RefusalPaceTest, SoManyAtOnce) {
  RefusalPace pace({.per_second = kNever, .at_once = 3});
  int answered = 0;
  for (int i = 0; i < 3; ++i) pace.Give([&] { ++answered; });
  EXPECT_EQ(answered, 3);
}

TEST(RefusalPaceTest, MoreAreHeldAndAFullHoldLetsThemGo) {
  std::atomic<int> answered = 0;
  RefusalPace pace({.per_second = kNever, .at_once = 3, .held = 2});
  for (int i = 0; i < 5; ++i) pace.Give([&] { ++answered; });
  EXPECT_EQ(answered, 3);
  pace.Give([&] { ++answered; });
  EXPECT_EQ(answered, 4);
}

TEST(RefusalPaceTest, WhatNobodyWaitsForMakesRoomInAFullHold) {
  std::atomic<int> heard = 0;
  std::atomic<int> unheard = 0;
  std::atomic<bool> left = false;
  RefusalPace pace({.per_second = kNever, .at_once = 1, .held = 3});
  pace.Give([&] { ++heard; });
  pace.Give([&] { ++heard; });
  for (int i = 0; i < 2; ++i) pace.Give([&] { ++unheard; }, [&] { return left.load(); });
  left = true;
  pace.Give([&] { ++heard; });
  EXPECT_EQ(heard, 1) << "the others are held";
  EXPECT_EQ(unheard, 2);
  pace.Stop();
  EXPECT_EQ(heard, 3);
}

TEST(RefusalPaceTest, StopGivesWhatIsHeldAndWhatComesLater) {
  std::atomic<int> answered = 0;
  RefusalPace pace({.per_second = kNever, .at_once = 1, .held = 100});
  for (int i = 0; i < 50; ++i) pace.Give([&] { ++answered; });
  EXPECT_EQ(answered, 1);
  pace.Stop();
  EXPECT_EQ(answered, 50);
  for (int i = 0; i < 50; ++i) pace.Give([&] { ++answered; });
  EXPECT_EQ(answered, 100);
}

TEST(RefusalPaceTest, WhatIsHeldGoesInOrderAtThePace) {
  constexpr int kAnswers = 100;
  std::vector<int> order;
  absl::BlockingCounter left(kAnswers);
  const absl::Time start = dataplane::SteadyTime();
  {
    RefusalPace pace({.per_second = 1000, .at_once = 1, .held = kAnswers});
    for (int i = 0; i < kAnswers; ++i) {
      pace.Give([&, i] {
        order.push_back(i);
        left.DecrementCount();
      });
    }
    left.Wait();
  }
  EXPECT_GE(dataplane::SteadyTime() - start, absl::Milliseconds(kAnswers - 1));
  for (int i = 0; i < kAnswers; ++i) EXPECT_EQ(order[i], i);
}

}  // namespace
}  // namespace tapedeck::services::server
