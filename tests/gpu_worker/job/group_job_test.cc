// Members of a group, against a real storage node: where their samples are when they begin in time,
// and when they come too late.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/base/errors.h"
#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/scratch_file.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::kMillisecondNs;
using testing::Contains;
using testing::HasSubstr;

class GroupJobTest : public JobFixture {
 protected:
  static constexpr uint64_t kBlocks = 200;
  static constexpr double kSampleRate = 2e6;
  // 8 bytes per sample.
  static constexpr int64_t kBlockNs = kTestBlockBytes / 8 * 500;

  void SetUp() override {
    StartNode(KindNamed("inproc"));
    AddChannel(kChannel, kTestBlockBytes, kSampleRate);
    UseDevice(pipeline::ChooseDevice("host").value());
  }

  absl::StatusOr<services::Job> Record(int64_t at_ns, const std::string& channel = kChannel,
                                       uint64_t blocks = kBlocks) {
    services::RecordSpec spec{.source = Synth(), .blocks = blocks, .at_ns = at_ns};
    spec.transfer.target = channel;
    spec.transfer.group =
        services::model::GroupMember{.id = "g", .name = "array", .number = 2, .members = 3};
    return Finish(job::Job::StartRecord("jobs/1", spec, Environment(), Nodes()));
  }

  // Why it is not what synth makes; empty: it is.
  std::string Played(const std::string& recording) {
    services::PlaybackSpec spec{.sink = Verify()};
    spec.transfer.target = recording;
    const auto ended = Finish(job::Job::StartPlayback("jobs/2", spec, Environment(), Nodes()));
    return ended.ok() ? std::string(ended->error.message()) : ended.status().ToString();
  }

  // In 200 ms; or later, where a busy machine takes longer to begin.
  absl::StatusOr<services::Job> RecordInTime(int64_t& at_ns) {
    absl::StatusOr<services::Job> job;
    for (const int64_t lead_ms : {200, 2'000, 20'000}) {
      at_ns = Now() + lead_ms * kMillisecondNs;
      job = Record(at_ns);
      if (!job.ok() || job->lost_blocks == 0) break;
    }
    return job;
  }

  static int64_t Now() { return dataplane::SystemClock().WallNs(); }
};

TEST_F(GroupJobTest, AMemberThatIsInTimeHasAll) {
  int64_t at_ns = 0;
  const auto job = RecordInTime(at_ns);
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(job->error.ok()) << job->error;
  EXPECT_GE(job->timing->first_time_ns, at_ns);
  EXPECT_EQ(job->lost_blocks, 0u);
  EXPECT_THAT(job->notes, Contains(services::Noted("GROUP_MEMBER|member=2|members=3|group=array")));
  const auto recording = node_->recordings().GetRecording(job->recording);
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_TRUE(recording->group.has_value());
  EXPECT_EQ(recording->group->id, "g");
  EXPECT_EQ(recording->group->number, 2u);
  EXPECT_EQ(recording->group->members, 3u);
  EXPECT_GT(recording->group->starts_at_ns, 0);
  EXPECT_THAT(recording->group->clock, testing::StartsWith("system"));
  EXPECT_GT(recording->group->clock_error_ns, 0);
}

TEST_F(GroupJobTest, ALateMemberLacksExactlyWhatWentBy) {
  int64_t at_ns = 0;
  absl::StatusOr<services::Job> job;
  // A busy machine begins after 200 blocks, 0.8 s.
  for (uint64_t blocks = kBlocks; blocks <= 100 * kBlocks; blocks *= 10) {
    at_ns = Now() - 300 * kMillisecondNs;
    job = Record(at_ns, kChannel, blocks);
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_EQ(job->blocks, blocks) << "the limit counts from the instant";
    if (job->lost_blocks < blocks) break;
  }
  ASSERT_LT(job->lost_blocks, job->blocks);
  ASSERT_TRUE(job->timing.has_value());
  const int64_t first_ns = job->timing->first_time_ns - at_ns;
  const auto late = static_cast<int64_t>(job->lost_blocks);
  EXPECT_GE(late, 300 * kMillisecondNs / kBlockNs);
  EXPECT_GE(first_ns, late * kBlockNs) << "a block is not begun before it is due";
  // Each sample is the one of its place: synth makes it by its number.
  EXPECT_THAT(Played(job->recording), HasSubstr(absl::StrCat(late)));
}

TEST_F(GroupJobTest, WhoIsTooLateIsRefused) {
  const auto job = Record(Now() - 61 * dataplane::kSecondNs);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_THAT(std::string(job->error.message()), HasSubstr("at most 60"));
  EXPECT_EQ(services::ReasonOf(job->error)->reason, "ARGUMENT_INVALID");
}

TEST_F(GroupJobTest, AChannelNeedsARate) {
  AddChannel("luns/l/channels/slow", kTestBlockBytes, /*sample_rate=*/0);
  const auto job = Record(Now() + 200 * kMillisecondNs, "luns/l/channels/slow");
  const auto reason = services::ReasonOf(job.status());
  ASSERT_TRUE(reason.has_value()) << job.status();
  EXPECT_EQ(reason->reason, "ARGUMENT_INVALID");
  EXPECT_EQ(reason->metadata.at("field"), "group");
}

}  // namespace
}  // namespace tapedeck::gpu_worker
