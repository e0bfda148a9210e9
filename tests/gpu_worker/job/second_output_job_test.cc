// Jobs with a second output against a real storage node: what becomes of one where the other fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/now.h"
#include "dataplane/reason.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/scratch_file.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using services::JobState;
using services::RecordingState;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kSpectra[] = "luns/l/channels/spectra";
constexpr char kTiny[] = "luns/tiny/channels/c";

class SecondOutputJobTest : public JobFixture {
 protected:
  void SetUp() override {
    StartNode(KindNamed("inproc"), uint64_t{4} << 30);
    ASSERT_TRUE(node_->luns()
                    .CreateLun({.name = "luns/tiny",
                                .store = "posix",
                                .members = {dir_.Make("tiny")},
                                .capacity_bytes = 1 << 20},
                               "")
                    .ok());
    AddChannel(kChannel, kTestBlockBytes, 1e9);
    AddChannel(kTiny, kTestBlockBytes, 1e9);
    AddSpectra(kSpectra);
    AddSpectra("luns/tiny/channels/spectra");
    UseDevice(pipeline::ChooseDevice("host").value());
  }

  void AddSpectra(const std::string& name) {
    ASSERT_TRUE(node_->channels()
                    .CreateChannel({.name = name,
                                    .block_bytes = kTestBlockBytes,
                                    .datatype = "rf32_le",
                                    .sample_rate = 1e9 / 16},
                                   "")
                    .ok());
  }

  absl::StatusOr<std::shared_ptr<job::Job>> Start(const std::string& channel,
                                                  const std::string& second, uint64_t blocks) {
    return job::Job::StartRecord(
        "jobs/1",
        {.transfer = {.target = channel},
         .source = Synth(),
         .blocks = blocks,
         .duration_ns = blocks == 0 ? 3600 * dataplane::kSecondNs : 0,
         .outputs = {{.channel = second, .transforms = SpectraOf(second)}}},
        Environment(), Nodes());
  }
  // A copy where the channel takes one.
  static std::vector<services::StageSpec> SpectraOf(const std::string& channel) {
    if (!channel.ends_with("spectra")) return {};
    return {Power(16, 16)};
  }

  services::Job Play(const std::string& recording) {
    return Finish(job::Job::StartPlayback("jobs/2",
                                          {.transfer = {.target = recording}, .sink = Verify()},
                                          Environment(), Nodes()))
        .value();
  }

  // Of a job whose first output has failed, and whose second is a copy of it.
  void ExpectEndedWithFirst(const services::Job& job) {
    const services::JobOutput& output = job.outputs.front();
    ASSERT_TRUE(output.error.ok()) << output.error;
    const auto first = node_->recordings().GetRecording(job.recording);
    const auto second = node_->recordings().GetRecording(output.recording);
    ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
    EXPECT_GT(first->blocks, 0u);
    EXPECT_GE(second->blocks, first->blocks) << "it is given each block before the first is";
    EXPECT_EQ(second->state, RecordingState::kSealed);
    EXPECT_EQ(second->cause, "the first output failed");
    EXPECT_TRUE(Play(output.recording).error.ok());
  }

  RecordingState StateOf(const std::string& recording) {
    return node_->recordings().GetRecording(recording)->state;
  }
};

TEST_F(SecondOutputJobTest, BothAreRecordedAndVerify) {
  for (const bool split : {false, true}) {
    if (split) UseDevice(ChooseSplitDevice());
    const auto job = Finish(Start(kChannel, kSpectra, 100));
    ASSERT_TRUE(job.ok()) << job.status();
    EXPECT_TRUE(job->error.ok()) << job->error;
    EXPECT_EQ(job->state, JobState::kSucceeded);
    EXPECT_EQ(job->blocks, 100u);
    ASSERT_THAT(job->outputs, SizeIs(1));
    const services::JobOutput& output = job->outputs.front();
    EXPECT_EQ(output.channel, kSpectra);
    EXPECT_TRUE(output.error.ok()) << output.error;
    EXPECT_EQ(output.blocks, 4u);
    EXPECT_EQ(output.bytes, 100 * kTestBlockBytes / (16 * 8) * 4);
    EXPECT_EQ(output.lost_blocks, 0u);
    for (const std::string& recording : {job->recording, output.recording}) {
      EXPECT_EQ(StateOf(recording), RecordingState::kSealed);
      const services::Job played = Play(recording);
      EXPECT_TRUE(played.error.ok()) << played.error;
      EXPECT_THAT(played.notes, Not(Contains(services::Noted("CONTENT_NOT_COMPARED"))));
    }
    const auto made = node_->recordings().GetRecording(output.recording)->origin;
    EXPECT_EQ(made.beside, kChannel);
    ASSERT_EQ(made.transforms.size(), 1u);
    EXPECT_EQ(made.transforms[0].name, "power");
  }
}

// Each by its own samples: 16 of the first become one of the spectra.
TEST_F(SecondOutputJobTest, BothHaveTheAnnotationsOfTheSource) {
  const std::string meta = ScratchPath("marked.sigmf-meta");
  WriteFile(meta, R"({"global": {"core:datatype": "cf32_le", "core:version": "1.0.0",
      "core:author": "somebody"}, "captures": [], "annotations":
      [{"core:sample_start": 512, "core:sample_count": 1024, "core:label": "burst"}]})");
  WriteFile(ScratchPath("marked.sigmf-data"), std::string(40 * kTestBlockBytes, '\0'));
  const auto job = Finish(
      job::Job::StartRecord("jobs/1",
                            {.transfer = {.target = kChannel},
                             .source = FileSource(meta),
                             .outputs = {{.channel = kSpectra, .transforms = SpectraOf(kSpectra)}}},
                            Environment(), Nodes()));
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(job->error.ok()) << job->error;
  const auto first = *node_->recordings().GetRecording(job->recording);
  const auto second = *node_->recordings().GetRecording(job->outputs.front().recording);
  ASSERT_THAT(first.annotations, SizeIs(1));
  ASSERT_THAT(second.annotations, SizeIs(1));
  EXPECT_EQ(first.annotations[0].sample_start, 512u);
  EXPECT_EQ(second.annotations[0].sample_start, 512u / 16);
  EXPECT_EQ(second.annotations[0].sample_count, 1024u / 16);
  EXPECT_EQ(second.annotations[0].label, "burst");
  EXPECT_EQ(second.origin.metadata, first.origin.metadata);
}

TEST_F(SecondOutputJobTest, TheFirstGoesOnWithoutTheSecond) {
  const auto job = Finish(Start(kChannel, kTiny, 200));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state, JobState::kFailed);
  EXPECT_EQ(services::ReasonOf(job->error)->reason, "LUN_FULL") << job->error;
  EXPECT_THAT(std::string(job->error.message()),
              HasSubstr("the second output, luns/tiny/channels/c: "));
  EXPECT_EQ(services::ReasonOf(job->outputs.front().error)->reason, "LUN_FULL");
  EXPECT_EQ(job->blocks, 200u);
  EXPECT_EQ(StateOf(job->recording), RecordingState::kSealed);
  EXPECT_TRUE(Play(job->recording).error.ok());
}

TEST_F(SecondOutputJobTest, TheSecondEndsInOrderWhereTheFirstFails) {
  const auto job = Finish(Start(kTiny, kChannel, 0));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state, JobState::kFailed);
  EXPECT_EQ(services::ReasonOf(job->error)->reason, "LUN_FULL") << job->error;
  EXPECT_THAT(std::string(job->error.message()), Not(HasSubstr("second")));
  ExpectEndedWithFirst(*job);
}

TEST_F(SecondOutputJobTest, SoItDoesIfItOpensAfterTheFirstHasFailed) {
  hold_second_ = true;
  const auto job = Start(kTiny, kChannel, 0);
  ASSERT_TRUE(job.ok()) << job.status();
  const auto first_ended = [&] {
    const auto listed = node_->recordings().ListRecordings(kTiny);
    const bool closed = !listed->empty() && listed->front().state == RecordingState::kSalvaged;
    return closed && sessions_ == 1;  // that of the second has been asked for
  };
  const absl::Time until = dataplane::SteadyTime() + absl::Seconds(60);
  while (dataplane::SteadyTime() < until && !first_ended()) absl::SleepFor(absl::Milliseconds(1));
  hold_second_ = false;
  const auto ended = Finish(job);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(services::ReasonOf(ended->error)->reason, "LUN_FULL") << ended->error;
  ExpectEndedWithFirst(*ended);
}

// The second lies in a LUN of 1 MiB, the first in one of 8 MiB.
TEST_F(SecondOutputJobTest, TheFirstFailsLongAfterTheSecond) {
  ASSERT_TRUE(node_->luns()
                  .CreateLun({.name = "luns/small",
                              .store = "posix",
                              .members = {dir_.Make("small")},
                              .capacity_bytes = 8 << 20},
                             "")
                  .ok());
  AddChannel("luns/small/channels/c", kTestBlockBytes, 1e9);
  const auto job = Finish(Start("luns/small/channels/c", kTiny, 0));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(services::ReasonOf(job->error)->reason, "LUN_FULL") << job->error;
  EXPECT_EQ(services::ReasonOf(job->outputs.front().error)->reason, "LUN_FULL");
  EXPECT_GT(job->blocks, job->outputs.front().blocks);
}

TEST_F(SecondOutputJobTest, ACancelledJobSealsBoth) {
  const auto job = Start(kChannel, kSpectra, 0);
  ASSERT_TRUE(job.ok()) << job.status();
  const absl::Time until = dataplane::SteadyTime() + absl::Seconds(60);
  while (dataplane::SteadyTime() < until && (*job)->state().outputs.front().blocks < 10) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  (*job)->Cancel();
  const auto ended = Finish(job);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state, JobState::kCancelled) << ended->error;
  for (const std::string& recording : {ended->recording, ended->outputs.front().recording}) {
    EXPECT_EQ(StateOf(recording), RecordingState::kSealed);
    EXPECT_TRUE(Play(recording).error.ok());
  }
}

TEST_F(SecondOutputJobTest, WhatDoesNotFitStartsNothing) {
  const absl::Status wrong = Start(kChannel, "luns/l/channels/none", 1).status();
  EXPECT_EQ(services::ReasonOf(wrong)->reason, "CHANNEL_NOT_FOUND") << wrong;
  const auto refused = job::Job::StartRecord("jobs/1",
                                             {.transfer = {.target = kChannel},
                                              .source = Synth(),
                                              .blocks = 1,
                                              .outputs = {{.channel = kSpectra}}},
                                             Environment(), Nodes());
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("the second channel takes rf32"));
  EXPECT_TRUE(node_->recordings().ListRecordings(kChannel)->empty());
}

TEST_F(SecondOutputJobTest, ASecondChannelThatChangesMeanwhileIsNamed) {
  int looks = 0;
  meanwhile_ = [&] {
    if (++looks < 2) return;
    const auto update =
        services::ChannelUpdate{.name = kSpectra}.Set(&services::Channel::sample_rate, 2e9);
    ASSERT_TRUE(node_->channels().UpdateChannel(update, "").ok());
  };
  const auto job = Finish(Start(kChannel, kSpectra, 20));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(services::ReasonOf(job->error)->reason, "CHANNEL_IN_USE") << job->error;
  EXPECT_THAT(std::string(job->error.message()), HasSubstr("the second output, "));
  EXPECT_EQ(job->blocks, 20u);
}

}  // namespace
}  // namespace tapedeck::gpu_worker
