#include "dataplane/executor/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace tapedeck::dataplane {
namespace {

TEST(EventLoop, RunsTasksInOrderNeverInline) {
  auto loop = *EventLoop::Create("test");
  std::vector<int> order;
  loop->RunAndWait([&] {
    loop->Post([&] { order.push_back(2); });
    loop->Post([&] { order.push_back(3); });
    order.push_back(1);
  });
  loop->RunAndWait([] {});
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(EventLoop, TakesTasksFromManyThreads) {
  auto loop = *EventLoop::Create("test");
  int sum = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) loop->Post([&] { ++sum; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  loop->RunAndWait([] {});
  EXPECT_EQ(sum, 40'000);
}

TEST(EventLoop, TimersComeInOrderOfTheirDeadlines) {
  auto loop = *EventLoop::Create("test");
  std::vector<int> order;
  std::promise<void> done;
  const int64_t now_ns = loop->clock().NowNs();
  loop->PostAt(now_ns + 30 * kMillisecondNs, [&] {
    order.push_back(3);
    done.set_value();
  });
  loop->PostAt(now_ns + 10 * kMillisecondNs, [&] { order.push_back(1); });
  loop->PostAt(now_ns + 20 * kMillisecondNs, [&] {
    EXPECT_GE(loop->clock().NowNs(), now_ns + 20 * kMillisecondNs);
    order.push_back(2);
  });
  // A loop that counts in other units sleeps ten seconds and more.
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
  loop->RunAndWait([] {});
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(EventLoop, WatchesDescriptorsUntilUnwatched) {
  auto loop = *EventLoop::Create("test");
  const int fd = eventfd(0, EFD_NONBLOCK);
  std::atomic<int> calls = 0;
  loop->RunAndWait([&] {
    ASSERT_TRUE(loop->Watch(fd, EPOLLIN,
                            [&](uint32_t) {
                              ++calls;
                              loop->Unwatch(fd);
                            })
                    .ok());
  });
  eventfd_write(fd, 1);
  for (int i = 0; i < 100 && calls == 0; ++i) {
    usleep(1000);
    loop->RunAndWait([] {});
  }
  loop->RunAndWait([] {});
  EXPECT_EQ(calls, 1);
  close(fd);
}

TEST(EventLoop, EndOfTurnRunsBeforeTheLoopSleeps) {
  auto loop = *EventLoop::Create("test");
  std::promise<void> done;
  loop->Post([&] { loop->AtEndOfTurn([&] { done.set_value(); }); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
}

TEST(EventLoop, WhatTheEndOfATurnLeavesForItIsDoneInIt) {
  auto loop = *EventLoop::Create("test");
  std::vector<int> order;
  loop->RunAndWait([&] {
    loop->AtEndOfTurn([&] {
      order.push_back(1);
      loop->AtEndOfTurn([&] { order.push_back(2); });
      loop->Post([&] { order.push_back(3); });
    });
  });
  loop->RunAndWait([] {});
  loop->RunAndWait([] {});
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

// As a completion queue does that is looked at in every turn.
TEST(EventLoop, ATaskThatRenewsItselfLeavesTheOthersTheirTurn) {
  auto loop = *EventLoop::Create("test");
  std::atomic<bool> stop = false;
  std::function<void()> renew = [&] {
    if (!stop) loop->AtEndOfTurn(renew);
  };
  const int fd = eventfd(1, EFD_NONBLOCK);
  std::promise<void> heard;
  loop->RunAndWait([&] {
    loop->AtEndOfTurn(renew);
    ASSERT_TRUE(loop->Watch(fd, EPOLLIN,
                            [&](uint32_t) {
                              loop->Unwatch(fd);
                              heard.set_value();
                            })
                    .ok());
  });
  EXPECT_EQ(heard.get_future().wait_for(std::chrono::seconds(5)), std::future_status::ready);
  loop->RunAndWait([&] { stop = true; });
  loop->RunAndWait([] {});
  close(fd);
}

TEST(EventLoop, IsWokenEveryTime) {
  auto loop = *EventLoop::Create("test");
  auto other = *EventLoop::Create("other");
  std::promise<void> done;
  int rounds = 0;
  std::function<void()> ping = [&] {
    if (++rounds == 2000) return done.set_value();
    other->Post([&] { loop->Post(ping); });
  };
  loop->Post(ping);
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST(EventLoop, IdleLoopUsesNoProcessor) {
  auto loop = *EventLoop::Create("test");
  loop->RunAndWait([] {});
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  usleep(500'000);
  getrusage(RUSAGE_SELF, &after);
  const double used = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                      (after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6;
  EXPECT_LT(used, 0.01);
}

TEST(EventLoop, DestroysTasksThatNeverRan) {
  const auto token = std::make_shared<int>(1);
  auto loop = *EventLoop::Create("test");
  loop->PostAfter(3600 * kSecondNs, [token] {});
  loop->RunAndWait([] {});
  EXPECT_EQ(token.use_count(), 2);
  loop.reset();
  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace tapedeck::dataplane
