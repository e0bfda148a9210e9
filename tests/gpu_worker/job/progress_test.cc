#include "gpu_worker/job/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/services/noted.h"

namespace tapedeck::gpu_worker::job {
namespace {

TEST(ProgressTest, ADurationIsTheShareOfItsTimeFromTheFirstBlock) {
  int64_t began_ns = 0;
  const Goal goal{.duration_ns = 1000, .began = [&] { return began_ns; }};
  EXPECT_EQ(ProgressOf(goal, {.blocks = 7}, 500), 0);
  began_ns = 500;
  EXPECT_EQ(ProgressOf(goal, {.blocks = 7}, 750), 0.25);
  EXPECT_EQ(ProgressOf(goal, {.blocks = 7}, 9000), 1);
  EXPECT_EQ(TotalOf(goal, 7), std::nullopt) << "blocks so far are no total";
}

TEST(ProgressTest, WithoutALimitNothingIsKnown) {
  EXPECT_EQ(TotalOf({}, 7), std::nullopt);
  EXPECT_EQ(ProgressOf({}, {.blocks = 7}, 1), std::nullopt);
}

TEST(ProgressTest, BlocksAreAShareOfThoseAskedFor) {
  const Goal goal{.blocks = 8};
  EXPECT_EQ(TotalOf(goal, 2), 8u) << "what a recording has sent so far is no total";
  EXPECT_EQ(ProgressOf(goal, {.blocks = 2, .total_blocks = 8}, 1), 0.25);
}

TEST(ProgressTest, APlaybackHasTheBlocksOfItsRange) {
  pace::Plan pace{.range = services::model::SampleRange{.first = 150, .end = 400}};
  const Goal part = GoalOf(pace, 100);
  EXPECT_EQ(TotalOf(part, 50), 3u);
  EXPECT_EQ(TotalOf(part, 2), 2u) << "the recording ends before";
  pace.range->end = UINT64_MAX;
  EXPECT_EQ(TotalOf(GoalOf(pace, 100), 49), 49u);
  EXPECT_EQ(TotalOf(GoalOf(std::nullopt, 100), 50), 50u);
}

TEST(ProgressTest, ALoopIsTheShareOfItsTurns) {
  pace::Plan pace{.range = services::model::SampleRange{.first = 0, .end = 400}, .loop = true};
  EXPECT_EQ(ProgressOf(GoalOf(pace, 100), {.blocks = 4}, 1), std::nullopt) << "it has no end";
  pace.loop_count = 4;
  const services::Job job{.timing = services::model::Timing{.turns = 1}};
  EXPECT_EQ(ProgressOf(GoalOf(pace, 100), job, 1), 0.25);
}

TEST(ProgressTest, TheTimeWithoutANodeIsSaid) {
  constexpr int64_t kSecond = 1'000'000'000;
  AwayTime away;
  away.See(false, 1 * kSecond);
  away.See(false, 2 * kSecond);
  EXPECT_EQ(away.Note(), std::nullopt);
  for (const int64_t second : {3, 4, 5}) away.See(true, second * kSecond);
  away.See(false, 6 * kSecond);
  away.See(true, 10 * kSecond);
  away.See(false, 10 * kSecond + kSecond / 2);
  EXPECT_THAT(away.Note(), testing::Optional(services::Noted("STORAGE_AWAY|seconds=3.50")));
}

TEST(ProgressTest, AJobIsPreparingWhileItsNodeMakesMemoryReady) {
  using services::JobState;
  services::session::Snapshot snapshot;
  EXPECT_EQ(StateOf(snapshot, JobState::kStarting), JobState::kStarting);
  snapshot.memory_ready = 0.25;
  EXPECT_EQ(StateOf(snapshot, JobState::kStarting), JobState::kPreparing);
  snapshot.resuming = true;
  EXPECT_EQ(StateOf(snapshot, JobState::kResuming), JobState::kResuming) << "users wait for more";
  snapshot.resuming = false;
  snapshot.memory_ready.reset();
  EXPECT_EQ(StateOf(snapshot, JobState::kPreparing), JobState::kStarting);
  snapshot.running = true;
  EXPECT_EQ(StateOf(snapshot, JobState::kStarting), JobState::kRunning);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::job
