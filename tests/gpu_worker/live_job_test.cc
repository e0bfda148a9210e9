// Jobs of a source without an end: how far they say they are, and how they are stopped.
#include <gmock/gmock.h>

#include "gpu_worker/pipeline/device_choice.h"
#include "tests/gpu_worker/worker_fixture.h"

namespace tapedeck::gpu_worker {
namespace {

using services::Job;
using services::JobState;
using testing::Contains;
using testing::Eq;
using testing::HasSubstr;
using testing::Optional;

class LiveJobTest : public WorkerFixture {
 protected:
  void SetUp() override { StartWorker(pipeline::ChooseDevice("host").value()); }
};

TEST_F(LiveJobTest, ItIsStoppedAndHasSucceeded) {
  const auto job = Record();
  ASSERT_TRUE(job.ok()) << job.status();
  const Job running = AwaitBlocks(*job, 8);
  EXPECT_EQ(running.total_blocks, std::nullopt);
  ASSERT_TRUE(running.progress.has_value());
  EXPECT_LT(*running.progress, 0.5) << "of 600 s";
  ASSERT_TRUE(worker_->StopJob(job->name).ok());
  ASSERT_TRUE(worker_->StopJob(job->name).ok());
  const Job ended = AwaitEnd(job);
  EXPECT_EQ(ended.state, JobState::kSucceeded) << ended.error;
  EXPECT_THAT(ended.total_blocks, Optional(ended.blocks));
  EXPECT_THAT(ended.progress, Optional(1.0));
  EXPECT_THAT(ended.notes, Contains(HasSubstr("stopped on request")));
  EXPECT_TRUE(worker_->StopJob(job->name).ok()) << "of an ended one it changes nothing";
  const Job played = AwaitEnd(Play(ended.recording));
  EXPECT_EQ(played.blocks, ended.blocks) << played.error;
  EXPECT_EQ(worker_->StopJob(played.name).ok(), true);
}

TEST_F(LiveJobTest, BeforeAnythingCameItIsEmptyAndHasSucceeded) {
  const auto job = Record(0, {"ingest", {{"udp", "127.0.0.1:0"}, {"timeout", 600.0}}});
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(worker_->StopJob(job->name).ok());
  const Job ended = AwaitEnd(job);
  EXPECT_EQ(ended.state, JobState::kSucceeded) << ended.error;
  EXPECT_EQ(ended.blocks, 0u);
}

TEST_F(LiveJobTest, OneThatFailsBeforeAnythingCameSaysSo) {
  const auto job =
      Record(0, {"ingest", {{"udp", "127.0.0.1:0"}, {"timeout", 0.1}, {"silence", "error"}}});
  ASSERT_TRUE(job.ok()) << job.status();
  const Job ended = AwaitEnd(job);
  EXPECT_EQ(ended.state, JobState::kFailed);
  EXPECT_EQ(ReasonOf(ended.error), "SOURCE_SILENT");
  EXPECT_THAT(ended.notes, Contains(HasSubstr("keeps no recording without blocks")));
}

TEST_F(LiveJobTest, OneThatIsCancelledAsItStopsIsCancelled) {
  const auto job = Record();
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(worker_->CancelJob(job->name).ok());
  ASSERT_TRUE(worker_->StopJob(job->name).ok());
  EXPECT_EQ(AwaitEnd(job).state, JobState::kCancelled);
}

TEST_F(LiveJobTest, APlaybackHasNoLiveSource) {
  const Job recorded = AwaitEnd(Record(64));
  ASSERT_EQ(recorded.state, JobState::kSucceeded) << recorded.error;
  services::PlaybackSpec loop{.transfer = {.storage = "node", .target = recorded.recording},
                              .sink = {"null", {}},
                              .pacing = {.loop = services::model::SampleRange{0, 1000}}};
  const auto playing = worker_->StartPlayback(loop);
  ASSERT_TRUE(playing.ok()) << playing.status();
  EXPECT_EQ(ReasonOf(worker_->StopJob(playing->name).status()), "JOB_NOT_LIVE");
  EXPECT_EQ(StateOf(*playing).progress, std::nullopt) << "it has no end";
  ASSERT_TRUE(worker_->CancelJob(playing->name).ok());
  EXPECT_EQ(AwaitEnd(playing).state, JobState::kCancelled);
  EXPECT_EQ(ReasonOf(worker_->StopJob("jobs/77").status()), "JOB_NOT_FOUND");
}

}  // namespace
}  // namespace tapedeck::gpu_worker
