// Long work has so many threads and no more, and what ends makes room for the next.
#include "services/base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "services/base/errors.h"
#include "tests/no_threads.h"

namespace tapedeck::services {
namespace {

std::string ReasonFor(const absl::Status& status) {
  return ReasonOf(status).value_or(ErrorReason()).reason;
}

// What has ended may hold its place for a moment.
absl::Status RunSoon(ThreadPool& pool, const std::function<void()>& task) {
  absl::Status status = pool.Run(task);
  for (int i = 0; i < 1000 && !status.ok(); ++i) {
    absl::SleepFor(absl::Milliseconds(5));
    status = pool.Run(task);
  }
  return status;
}

TEST(ThreadPoolTest, RefusesMoreThanItHas) {
  absl::Notification go;
  std::atomic<int> ran = 0;
  {
    ThreadPool pool("test", "tests", 2);
    const auto wait = [&] {
      go.WaitForNotification();
      ++ran;
    };
    EXPECT_TRUE(pool.Run(wait).ok());
    EXPECT_TRUE(pool.Run(wait).ok());
    const absl::Status refused = pool.Run(wait);
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(ReasonFor(refused), "LIMIT_REACHED");
    EXPECT_NE(refused.message().find("2 tests"), std::string::npos) << refused;
    go.Notify();
    EXPECT_TRUE(RunSoon(pool, wait).ok());
  }
  EXPECT_EQ(ran, 3) << "the end of the pool waits for what it took";
}

TEST(ThreadPoolTest, WhatWaitsIsBounded) {
  absl::Notification begun, go;
  std::atomic<int> ran = 0;
  int taken = 0;
  {
    ThreadPool pool("test", "tests", 1, 20);
    ASSERT_TRUE(pool.Run([&] {
                      begun.Notify();
                      go.WaitForNotification();
                    })
                    .ok());
    begun.WaitForNotification();
    while (taken < 1000 && pool.Run([&] { ++ran; }).ok()) ++taken;
    go.Notify();
  }
  EXPECT_EQ(taken, 20);
  EXPECT_EQ(ran, taken) << "the end of the pool runs what was taken";
}

TEST(ThreadPoolTest, WithoutThreadsItRefusesUnlessOneIsIdle) {
  ThreadPool pool("test", "tests", 2);
  std::atomic<int> ran = 0;
  const auto count = [&] { ++ran; };
  {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    EXPECT_EQ(ReasonFor(pool.Run(count)), "LIMIT_REACHED");
  }
  ASSERT_TRUE(pool.Run(count).ok());
  const NoThreads none;
  EXPECT_TRUE(RunSoon(pool, count).ok());
  for (int i = 0; i < 1000 && ran < 2; ++i) absl::SleepFor(absl::Milliseconds(5));
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace tapedeck::services
