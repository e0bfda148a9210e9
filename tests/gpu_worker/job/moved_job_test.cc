// A job that plays a recording by a name that it had before it was moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/gpu_worker/jobs.h"

namespace tapedeck::gpu_worker {
namespace {

class MovedJobTest : public JobFixture {
 protected:
  static constexpr uint64_t kBlocks = 8;

  void SetUp() override {
    StartNode(KindNamed("inproc"));
    UseDevice(pipeline::ChooseDevice("host").value());
    AddChannel(kChannel, kTestBlockBytes, 1e6);
    ASSERT_TRUE(
        node_->luns()
            .CreateLun({.name = "luns/deep", .store = "posix", .members = {dir_.Make("deep")}}, "")
            .ok());
  }

  std::string Recorded() {
    services::RecordSpec spec{.source = Synth(), .blocks = kBlocks};
    spec.transfer.target = kChannel;
    const auto ended = Finish(job::Job::StartRecord("jobs/1", spec, Environment(), Nodes()));
    EXPECT_TRUE(ended.ok() && ended->error.ok()) << ended.status();
    return ended.ok() ? ended->recording : "";
  }

  // By the policy of its channel, on the node's own thread.
  void AwaitMoved(const std::string& recording) {
    services::ChannelUpdate policy{.name = kChannel};
    policy.Set(&services::Channel::move_to, "luns/deep")
        .Set(&services::Channel::move_after_ns, services::model::kMinMoveAfterNs);
    ASSERT_TRUE(node_->channels().UpdateChannel(policy, "").ok());
    for (int i = 0; i < 2000 && node_->recordings().GetRecording(recording).ok(); ++i) {
      absl::SleepFor(absl::Milliseconds(10));
    }
  }
};

TEST_F(MovedJobTest, IsPlayedByItsOldName) {
  const std::string old_name = Recorded();
  AwaitMoved(old_name);
  services::PlaybackSpec spec{.sink = Verify()};
  spec.transfer.target = old_name;
  const auto played = Finish(job::Job::StartPlayback("jobs/2", spec, Environment(), Nodes()));
  ASSERT_TRUE(played.ok() && played->error.ok()) << played.status() << played->error;
  EXPECT_EQ(played->blocks, kBlocks);
  EXPECT_EQ(played->target, old_name);
  EXPECT_THAT(played->recording, testing::StartsWith("luns/deep/channels/c/"));
}

}  // namespace
}  // namespace tapedeck::gpu_worker
