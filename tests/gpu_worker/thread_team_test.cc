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

TEST(CrewTest, DoesEachPartOnceAtAPlaceOfItsOwn) {
  const auto crew = Crew::Create(5);
  ASSERT_EQ(crew->size(), 6u);
  for (size_t parts = 0; parts < 200; ++parts) {
    std::vector<std::atomic<int>> times(parts);
    std::array<std::atomic<int>, 6> at_place{};
    crew->Run(parts, [&](size_t part, size_t place) {
      EXPECT_EQ(at_place[place]++, 0) << "two at one place";
      ++times[part];
      --at_place[place];
    });
    for (size_t part = 0; part < parts; ++part) ASSERT_EQ(times[part], 1) << part << "/" << parts;
  }
}

TEST(CrewTest, HelpersWorkAtTheSameTime) {
  const auto crew = Crew::Create(2);
  std::array<absl::Notification, 3> begun;
  std::atomic<int> together = 0;
  crew->Run(3, [&](size_t part, size_t /*place*/) {
    begun[part].Notify();
    bool all = true;
    for (auto& each : begun) all = dataplane::AwaitFor(each, absl::Seconds(10)) && all;
    if (all) ++together;
  });
  EXPECT_EQ(together, 3);
}

TEST(CrewTest, WithoutThreadsTheCallerDoesAll) {
  std::unique_ptr<Crew> crew;
  {
    const NoThreads none;
    if (!none.works()) GTEST_SKIP() << "this user may not become another one";
    crew = Crew::Create(3);
  }
  EXPECT_EQ(crew->size(), 1u);
  size_t done = 0;
  crew->Run(7, [&](size_t part, size_t place) {
    EXPECT_EQ(part, done++);
    EXPECT_EQ(place, 0u);
  });
  EXPECT_EQ(done, 7u);
}

TEST(CrewTest, ACrewThatWasNeverAskedEnds) {
  for (int i = 0; i < 20; ++i) Crew::Create(4);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::verify
