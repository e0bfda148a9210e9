// Jobs of a source without an end: how far they say they are, and how they are stopped.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gpu_worker/emulator/target.h"
#include "gpu_worker/job/job_history.h"
#include "gpu_worker/packets/numbered/packet.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "services/rpc/convert/codecs.h"
#include "tests/gpu_worker/ingest/vita49_packets.h"
#include "tests/gpu_worker/job/worker_fixture.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using services::Job;
using services::JobState;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Lt;
using testing::Optional;

class LiveJobTest : public WorkerFixture {
 protected:
  void SetUp() override {
    history_ = OpenHistory();
    StartWorker(pipeline::ChooseDevice("host").value());
  }

  // As a worker finds it that is started now.
  std::unique_ptr<job::JobHistory> OpenHistory() {
    return job::JobHistory::Open(state_dir_, services::convert::JobMessages());
  }

  // One datagram each, to the port that a note of the job names.
  static void SendTo(const Job& job, const std::vector<std::vector<std::byte>>& packets) {
    const auto note = std::ranges::find(job.notes, "INGEST_LISTENS", &services::Note::code);
    ASSERT_NE(note, job.notes.end());
    auto target = emulator::Target::Connect(emulator::Target::Transport::kUdp,
                                            absl::StrCat("127.0.0.1:", note->facts.at("port")));
    ASSERT_TRUE(target.ok()) << target.status();
    for (const auto& packet : packets) {
      const std::span<const std::byte> bytes(packet);
      ASSERT_TRUE(target->Send(std::span(&bytes, 1)).ok());
    }
  }

 private:
  const std::string state_dir_ = dir_.Make("jobs");
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
  EXPECT_EQ(ended.total_blocks, std::nullopt) << "nobody knows how many 600 s would have been";
  EXPECT_THAT(ended.progress, Optional(Lt(0.5))) << "of 600 s";
  EXPECT_THAT(ended.notes, Contains(services::Noted("STOPPED")));
  EXPECT_TRUE(worker_->StopJob(job->name).ok()) << "of an ended one it changes nothing";
  const Job played = AwaitEnd(Play(ended.recording));
  EXPECT_EQ(played.blocks, ended.blocks) << played.error;
  EXPECT_EQ(worker_->StopJob(played.name).ok(), true);
}

// Two blocks, and then silence.
TEST_F(LiveJobTest, WhatItHasIsWrittenDownWhileItRuns) {
  constexpr uint16_t kBytes = 8192;
  const auto job = Record(0, {"ingest", {{"udp", "127.0.0.1:0"}, {"timeout", 600.0}}});
  ASSERT_TRUE(job.ok()) << job.status();
  std::vector<std::vector<std::byte>> packets;
  for (uint32_t i = 0; i < 2 * kTestBlockBytes / kBytes; ++i) {
    const auto header = packets::numbered::Encode({.number = i, .samples_bytes = kBytes});
    packets.emplace_back(header.begin(), header.end()).resize(header.size() + kBytes);
  }
  SendTo(*job, packets);
  const Job running = AwaitBlocks(*job, 1);
  const absl::Time deadline = dataplane::SteadyTime() + absl::Seconds(60);
  Job past;
  while (past.blocks == 0 && dataplane::SteadyTime() < deadline) {
    absl::SleepFor(absl::Milliseconds(20));
    const auto found = OpenHistory()->past().jobs;
    if (!found.empty()) past = found.front();
  }
  EXPECT_EQ(past.recording, running.recording);
  EXPECT_GT(past.blocks, 0u);
  EXPECT_GT(past.elapsed_ns, 0);
  EXPECT_FALSE(services::model::HasEnded(StateOf(*job)));
}

TEST_F(LiveJobTest, BeforeAnythingCameItIsEmptyAndHasSucceeded) {
  const auto job = Record(0, {"ingest", {{"udp", "127.0.0.1:0"}, {"timeout", 600.0}}});
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(worker_->StopJob(job->name).ok());
  const Job ended = AwaitEnd(job);
  EXPECT_EQ(ended.state, JobState::kSucceeded) << ended.error;
  EXPECT_EQ(ended.blocks, 0u);
  EXPECT_THAT(ended.progress, Optional(0.0)) << "of 600 s";
}

TEST_F(LiveJobTest, OfBlocksAskedForItHasItsShareWhenItIsStopped) {
  constexpr uint64_t kAsked = 16'384;  // 1 GiB
  const auto job = worker_->StartRecord(
      {.transfer = {.storage = "node", .target = kChannel}, .source = Synth(), .blocks = kAsked});
  ASSERT_TRUE(job.ok()) << job.status();
  AwaitBlocks(*job, 8);
  ASSERT_TRUE(worker_->StopJob(job->name).ok());
  const Job ended = AwaitEnd(job);
  ASSERT_EQ(ended.state, JobState::kSucceeded) << ended.error;
  EXPECT_THAT(ended.total_blocks, Optional(kAsked));
  EXPECT_THAT(ended.progress, Optional(static_cast<double>(ended.blocks) / kAsked));
}

TEST_F(LiveJobTest, OneThatFailsBeforeAnythingCameSaysSo) {
  const auto job =
      Record(0, {"ingest", {{"udp", "127.0.0.1:0"}, {"timeout", 0.1}, {"silence", "error"}}});
  ASSERT_TRUE(job.ok()) << job.status();
  const Job ended = AwaitEnd(job);
  EXPECT_EQ(ended.state, JobState::kFailed);
  EXPECT_EQ(ReasonOf(ended.error), "SOURCE_SILENT");
  EXPECT_THAT(ended.notes, Contains(services::Noted("NOTHING_KEPT")));
}

// The source has made more, which is nowhere.
TEST_F(LiveJobTest, OneThatFailsSaysWhatItsNodeAcknowledged) {
  const std::string channel = "luns/small/channels/c";
  ASSERT_TRUE(node_->luns()
                  .CreateLun({.name = "luns/small",
                              .store = "posix",
                              .members = {dir_.Make("small")},
                              .capacity_bytes = 4 << 20},
                             "")
                  .ok());
  AddChannel(channel, kTestBlockBytes, 1e9);
  const Job ended =
      AwaitEnd(worker_->StartRecord({.transfer = {.storage = "node", .target = channel},
                                     .source = Synth(),
                                     .duration_ns = 600 * dataplane::kSecondNs}));
  EXPECT_EQ(ReasonOf(ended.error), "LUN_FULL");
  EXPECT_GT(ended.blocks, 0u);
  EXPECT_THAT(ended.notes, Contains(services::Noted(absl::StrCat(
                               "PARTLY_KEPT|blocks=", ended.blocks, "|bytes=", ended.bytes))));
}

TEST_F(LiveJobTest, OneThatIsCancelledAsItStopsIsCancelled) {
  const auto job = Record();
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(worker_->CancelJob(job->name).ok());
  ASSERT_TRUE(worker_->StopJob(job->name).ok());
  EXPECT_EQ(AwaitEnd(job).state, JobState::kCancelled);
}

// By the packets' own times, whenever they come: the fourth has the time asked for in its midst.
TEST_F(LiveJobTest, WhatIsFromBeforeTheTimeAskedForIsNotRecorded) {
  constexpr uint64_t kSamples = 256, kPackets = 10, kRate = 1'000'000, kBefore = 1'000;
  const std::string channel = "luns/l/channels/live";
  ASSERT_TRUE(node_->channels()
                  .CreateChannel({.name = channel,
                                  .block_bytes = kTestBlockBytes,
                                  .datatype = "ci16_be",
                                  .sample_rate = kRate},
                                 "")
                  .ok());
  const int64_t at_ns =
      1'700'000'000 * dataplane::kSecondNs + int64_t{kBefore} * dataplane::kMicrosecondNs;
  const auto job = worker_->StartRecord(
      {.transfer = {.storage = "node", .target = channel},
       .source = {"ingest", {{"udp", "127.0.0.1:0"}, {"packets", "vita49"}, {"timeout", 0.3}}},
       .duration_ns = 600 * dataplane::kSecondNs,
       .at_ns = at_ns});
  ASSERT_TRUE(job.ok()) << job.status();
  const std::vector<std::byte> samples(kSamples * 4, std::byte{1});
  std::vector<std::vector<std::byte>> packets;
  for (uint64_t i = 0; i < kPackets; ++i) {
    packets.push_back(VitaData(1, VitaTime::Of(i * kSamples, kRate), samples));
  }
  SendTo(*job, packets);
  const Job ended = AwaitEnd(job);
  EXPECT_EQ(ended.state, JobState::kSucceeded) << ended.error;
  EXPECT_EQ(ended.bytes, (kPackets * kSamples - kBefore) * 4);
  ASSERT_TRUE(ended.timing.has_value());
  EXPECT_EQ(ended.timing->first_time_ns, at_ns);
  EXPECT_THAT(ended.notes, Contains(services::Noted("INGEST_COUNTS|lost_samples=0|early=3")));
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
