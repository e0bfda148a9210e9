// What a worker's jobs have done stays counted when they are forgotten.
#include "gpu_worker/job/job_totals.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace tapedeck::gpu_worker::job {
namespace {

using dataplane::Direction;
using services::JobState;

TEST(JobTotalsTest, AddUpByDirectionAndState) {
  JobTotals totals;
  for (int i = 0; i < 1000; ++i) {
    totals.Add({.state = i % 10 == 0 ? JobState::kFailed : JobState::kSucceeded,
                .blocks = 3,
                .bytes = 30,
                .end_time_ns = 1,
                .counters = {.retransmitted_blocks = 1},
                .stage_times = {{"send.rail", absl::StrCat("r", i), 2}, {"made.up", "", 7}},
                .outputs = {{.blocks = 1, .bytes = 5}}});
  }
  totals.Add({.direction = Direction::kPlayback, .state = JobState::kRunning, .blocks = 5});
  ASSERT_EQ(totals.by_direction.size(), 2u);
  auto& record = totals.by_direction[Direction::kRecord];
  EXPECT_EQ(record.stats.sessions, 0u);
  EXPECT_EQ(record.stats.blocks, 4000u);
  EXPECT_EQ(record.stats.bytes, 35'000u);
  EXPECT_EQ(record.stats.counters.retransmitted_blocks, 1000u);
  // Whatever rails there were, and whatever words a storage node used.
  EXPECT_EQ(record.stats.stage_times, (services::StageTimes{{"send.rail", "", 2000}}));
  EXPECT_EQ(record.jobs[JobState::kFailed], 100u);
  EXPECT_EQ(record.jobs[JobState::kSucceeded], 900u);
  auto& playback = totals.by_direction[Direction::kPlayback];
  EXPECT_EQ(playback.stats.sessions, 1u);
  EXPECT_EQ(playback.stats.blocks, 5u);
  EXPECT_EQ(playback.jobs[JobState::kRunning], 1u);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::job
