#include "gpu_worker/stages/verify/thread_team.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "tests/no_threads.h"

namespace tapedeck::gpu_worker::stages::verify {
namespace {

TEST(ThreadTeamTest, DoesEachPartOnceWithANumberOfItsOwn) {
  const auto team = ThreadTeam::Create(5);
  ASSERT_EQ(team->size(), 6u);
  for (size_t parts = 0; parts < 200; ++parts) {
    std::vector<std::atomic<int>> times(parts);
    std::array<std::atomic<int>, 6> at_place{};
    team->Run(parts, [&](size_t part, size_t thread_number) {
      EXPECT_EQ(at_place[thread_number]++, 0) << "two at one place";
      ++times[part];
      --at_place[thread_number];
    });
    for (size_t part = 0; part < parts; ++part) ASSERT_EQ(times[part], 1) << part << "/" << parts;
  }
}

TEST(ThreadTeamTest, HelpersWorkAtTheSameTime) {
  const auto team = ThreadTeam::Create(2);
  std::array<absl::Notification, 3> begun;
  std::atomic<int> together = 0;
  team->Run(3, [&](size_t part, size_t /*place*/) {
    begun[part].Notify();
    bool all = true;
    for (auto& each : begun) all = dataplane::AwaitFor(each, absl::Seconds(10)) && all;
    if (all) ++together;
  });
  EXPECT_EQ(together, 3);
}

TEST(ThreadTeamTest, WithoutThreadsTheCallerDoesAll) {
  std::unique_ptr<ThreadTeam> team;
  {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    team = ThreadTeam::Create(3);
  }
  EXPECT_EQ(team->size(), 1u);
  size_t done = 0;
  team->Run(7, [&](size_t part, size_t thread_number) {
    EXPECT_EQ(part, done++);
    EXPECT_EQ(thread_number, 0u);
  });
  EXPECT_EQ(done, 7u);
}

TEST(ThreadTeamTest, ATeamThatWasNeverAskedEnds) {
  for (int i = 0; i < 20; ++i) ThreadTeam::Create(4);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::verify
