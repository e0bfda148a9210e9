// Timed waits: that end when they may, not before, and lose no wake-up. In a program that has them,
// and in a shared library that hides them, where they poll.
#include "dataplane/executor/timed_wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "tests/dataplane/hidden_waits.h"

namespace tapedeck::dataplane {
namespace {

// None takes so long, however busy the machine.
constexpr absl::Duration kLong = absl::Seconds(60);

class TimedWaitTest : public testing::TestWithParam<const TimedWaits*> {
 protected:
  static bool Await(absl::Mutex& mutex, bool* met, absl::Duration patience) {
    absl::MutexLock lock(&mutex);
    return GetParam()->mutex(mutex, absl::Condition(met), Deadline::In(patience));
  }
  static bool Await(const absl::Notification& notification, absl::Duration patience) {
    return GetParam()->notification(notification, Deadline::In(patience));
  }
};

TEST_P(TimedWaitTest, WhatHoldsIsNotWaitedFor) {
  absl::Mutex mutex;
  bool met = true;
  absl::Notification notification;
  notification.Notify();
  for (const absl::Duration patience :
       {-absl::InfiniteDuration(), -absl::Hours(1), absl::ZeroDuration(), kLong,
        absl::Hours(24 * 365 * 1000), absl::InfiniteDuration()}) {
    EXPECT_TRUE(Await(mutex, &met, patience)) << patience;
    EXPECT_TRUE(Await(notification, patience)) << patience;
  }
}

TEST_P(TimedWaitTest, WithoutPatienceItEndsAtOnce) {
  absl::Mutex mutex;
  bool met = false;
  const absl::Notification notification;
  const absl::Time begun = SteadyTime();
  for (const absl::Duration patience :
       {-absl::InfiniteDuration(), -absl::Hours(1), -absl::Nanoseconds(1), absl::ZeroDuration()}) {
    EXPECT_FALSE(Await(mutex, &met, patience)) << patience;
    EXPECT_FALSE(Await(notification, patience)) << patience;
  }
  EXPECT_LT(SteadyTime() - begun, kLong);
}

TEST_P(TimedWaitTest, ItEndsAtItsDeadlineAndNotBefore) {
  absl::Mutex mutex;
  bool met = false;
  const absl::Notification notification;
  for (const absl::Duration patience :
       {absl::Microseconds(1), absl::Milliseconds(1), absl::Milliseconds(50)}) {
    absl::Time begun = SteadyTime();
    EXPECT_FALSE(Await(mutex, &met, patience));
    EXPECT_GE(SteadyTime() - begun, patience);
    begun = SteadyTime();
    EXPECT_FALSE(Await(notification, patience));
    EXPECT_GE(SteadyTime() - begun, patience);
    EXPECT_LT(SteadyTime() - begun, kLong);
  }
}

TEST_P(TimedWaitTest, ItEndsWhenTheConditionHolds) {
  for (const absl::Duration patience :
       {2 * kLong, absl::Hours(24 * 365 * 1000), absl::InfiniteDuration()}) {
    absl::Mutex mutex;
    bool met = false;
    absl::Notification notification;
    const absl::Time begun = SteadyTime();
    std::thread other([&] {
      absl::SleepFor(absl::Milliseconds(10));
      absl::MutexLock lock(&mutex);
      met = true;
    });
    EXPECT_TRUE(Await(mutex, &met, patience));
    other.join();
    other = std::thread([&] {
      absl::SleepFor(absl::Milliseconds(10));
      notification.Notify();
    });
    EXPECT_TRUE(Await(notification, patience));
    other.join();
    EXPECT_LT(SteadyTime() - begun, kLong);
  }
}

// The mutex is held from before the deadline until after it.
TEST_P(TimedWaitTest, AMutexThatIsHeldIsWaitedFor) {
  absl::Mutex mutex;
  bool met = false;
  std::atomic<bool> waits = false;
  std::atomic<bool> let_go = false;
  std::thread waiter([&] {
    absl::MutexLock lock(&mutex);
    waits = true;
    EXPECT_FALSE(
        GetParam()->mutex(mutex, absl::Condition(&met), Deadline::In(absl::Milliseconds(50))));
    EXPECT_TRUE(let_go);
  });
  while (!waits) absl::SleepFor(absl::Milliseconds(1));
  {
    absl::MutexLock lock(&mutex);
    absl::SleepFor(absl::Milliseconds(100));
    let_go = true;
  }
  waiter.join();
}

TEST_P(TimedWaitTest, EachOfManyEndsAtItsOwnDeadline) {
  constexpr int kWaiters = 20;
  for (const bool ascending : {true, false}) {
    absl::Mutex mutex;
    bool met = false;
    std::vector<std::thread> waiters;
    for (int i = 0; i < kWaiters; ++i) {
      const auto patience = absl::Milliseconds(5 * (ascending ? i : kWaiters - i));
      waiters.emplace_back([&, patience] {
        const absl::Time begun = SteadyTime();
        EXPECT_FALSE(Await(mutex, &met, patience));
        EXPECT_GE(SteadyTime() - begun, patience);
        EXPECT_LT(SteadyTime() - begun, kLong);
      });
    }
    for (std::thread& waiter : waiters) waiter.join();
  }
}

// Some give up all the time, some wait for long: each token is taken by one, and none is left.
TEST_P(TimedWaitTest, NoWakeUpIsLost) {
  constexpr int kTokens = 20'000;
  absl::Mutex mutex;
  int tokens = 0;
  int taken = 0;
  const auto take = [&](absl::Duration patience) {
    const auto any = [&] { return tokens > 0 || taken == kTokens; };
    absl::MutexLock lock(&mutex);
    while (taken < kTokens) {
      const bool met = GetParam()->mutex(mutex, absl::Condition(&any), Deadline::In(patience));
      if (!met && patience == kLong) return ADD_FAILURE() << "a token was overslept";
      if (!met || taken == kTokens) continue;
      --tokens;
      ++taken;
    }
  };
  std::vector<std::thread> takers;
  for (const auto patience :
       {absl::ZeroDuration(), absl::Microseconds(1), absl::Microseconds(70), kLong, kLong}) {
    takers.emplace_back(take, patience);
  }
  for (int i = 0; i < kTokens; ++i) {
    absl::MutexLock lock(&mutex);
    ++tokens;
  }
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(taken, kTokens);
  EXPECT_EQ(tokens, 0);
}

// Two take turns, each woken by the other alone: an overslept wake-up would last as long as theirs.
TEST_P(TimedWaitTest, TurnsGoToAndFro) {
  constexpr int kTurns = 2'000;
  absl::Mutex mutex;
  int turn = 0;
  const auto play = [&](int mine) {
    const auto is_mine = [&] { return turn % 2 == mine || turn >= kTurns; };
    absl::MutexLock lock(&mutex);
    while (turn < kTurns) {
      ASSERT_TRUE(GetParam()->mutex(mutex, absl::Condition(&is_mine), Deadline::In(kLong)));
      ++turn;
    }
  };
  std::thread other([&] { play(1); });
  play(0);
  other.join();
}

const TimedWaits kOwn = {
    .mutex = [](absl::Mutex& mutex, const absl::Condition& condition, Deadline deadline)
                 ABSL_NO_THREAD_SAFETY_ANALYSIS { return AwaitUntil(mutex, condition, deadline); },
    .notification = [](const absl::Notification& notification,
                       Deadline deadline) { return AwaitUntil(notification, deadline); }};

INSTANTIATE_TEST_SUITE_P(Own, TimedWaitTest, testing::Values(&kOwn));
#ifdef TAPEDECK_HIDDEN_WAITS
INSTANTIATE_TEST_SUITE_P(Hidden, TimedWaitTest, testing::Values(HiddenWaits()));
#endif

TEST(Deadline, IsLeftPassedOrNever) {
  EXPECT_TRUE(Deadline::In(absl::ZeroDuration()).passed());
  EXPECT_FALSE(Deadline::In(kLong).passed());
  EXPECT_GT(Deadline::In(kLong).left(), absl::ZeroDuration());
  EXPECT_EQ(Deadline::Never().left(), absl::InfiniteDuration());
  EXPECT_EQ(Deadline::In(absl::InfiniteDuration()), Deadline::Never());
  EXPECT_LT(Deadline::In(kLong), Deadline::In(kLong) + absl::Seconds(1));
}

TEST(BackoffAfter, DoublesUpToTheLongest) {
  constexpr int64_t kFirst = 50, kLongest = 1'000;
  EXPECT_EQ(BackoffAfter(0, kFirst, kLongest), 0) << "the first try does not wait";
  int failures = 0;
  for (const int ms : {50, 100, 200, 400, 800, 1'000})
    EXPECT_EQ(BackoffAfter(++failures, kFirst, kLongest), ms);
  EXPECT_EQ(BackoffAfter(UINT32_MAX, 60 * kSecondNs, INT64_MAX), 60 * kSecondNs << 20);
  EXPECT_EQ(BackoffAfter(2, absl::Seconds(1), absl::Minutes(1)), absl::Seconds(2));
}

}  // namespace
}  // namespace tapedeck::dataplane
