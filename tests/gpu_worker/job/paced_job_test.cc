// Which samples a job gives, and when, against a real storage node: to the byte, on a device in
// host memory and on one whose memory the CPU must not touch.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "dataplane/fd.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/signal/vita49/packet.h"
#include "services/signal/vita49/sample_clock.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/scratch_file.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::kMillisecondNs;
using services::JobState;
using services::PlaybackSpec;
using services::model::Playhead;

constexpr uint64_t kSampleBytes = 8;
constexpr uint64_t kBlockSamples = kTestBlockBytes / kSampleBytes;
constexpr uint64_t kBlocks = 9;
constexpr uint64_t kSamples = kBlocks * kBlockSamples;
constexpr double kSampleRate = 1e6;

// Receives packets of VITA 49 at a port of its own.
class FirstPacket {
 public:
  FirstPacket() : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof(at);
    auto* const any = reinterpret_cast<sockaddr*>(&at);
    EXPECT_EQ(bind(socket_.get(), any, bytes), 0);
    EXPECT_EQ(getsockname(socket_.get(), any, &bytes), 0);
    port_ = ntohs(at.sin_port);
  }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

  // Of the first packet with samples, which has come; none: there is none, or it tells no time.
  std::optional<int64_t> TimeNs() const {
    std::vector<std::byte> bytes(65536);
    while (true) {
      const ssize_t got = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got <= 0) return std::nullopt;
      const auto packet =
          services::vita49::Decode(std::span(bytes).first(static_cast<size_t>(got)));
      if (!packet.has_value() || packet->context.has_value()) continue;
      return services::vita49::NanosecondsOf(packet->time, kSampleRate);
    }
  }

 private:
  const dataplane::Fd socket_;
  int port_ = 0;
};

class PacedJobTest : public JobFixture, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    StartNode(KindNamed("inproc"));
    AddChannel(kChannel, kTestBlockBytes, kSampleRate);
    UseDevice(GetParam() == std::string("split") ? ChooseSplitDevice(-1)
                                                 : pipeline::ChooseDevice("host").value());
    recording_ = Record(kChannel, {});
    whole_ = PlayedFile({});
    ASSERT_EQ(whole_.size(), kSamples * kSampleBytes);
  }

  // The name of what it made.
  std::string Record(const std::string& channel, services::RecordSpec spec) {
    spec.transfer.target = channel;
    spec.source = Synth();
    spec.blocks = kBlocks;
    ended_ = Ended(job::Job::StartRecord("jobs/1", spec, Environment(), Nodes()));
    EXPECT_TRUE(ended_.error.ok()) << ended_.error;
    return ended_.recording;
  }

  std::shared_ptr<job::Job> Start(PlaybackSpec spec) {
    spec.transfer.target = recording_;
    if (spec.sink.name.empty()) spec.sink = Null();
    auto job = job::Job::StartPlayback("jobs/2", spec, Environment(), Nodes());
    EXPECT_TRUE(job.ok()) << job.status();
    return *std::move(job);
  }

  static services::Job Ended(const absl::StatusOr<std::shared_ptr<job::Job>>& job) {
    return Finish(job).value();
  }

  // What a file sink has of it.
  std::string PlayedFile(PlaybackSpec spec) {
    const std::string path = ScratchPath("played");
    spec.sink = FileSink(path, /*replace=*/true);
    ended_ = Ended(Start(spec));
    EXPECT_TRUE(ended_.error.ok()) << ended_.error;
    EXPECT_EQ(ended_.lost_blocks, 0u);
    return ReadFile(path);
  }

  std::string Bytes(uint64_t first, uint64_t end) const {
    return whole_.substr(first * kSampleBytes, (end - first) * kSampleBytes);
  }

  static Playhead FromSample(uint64_t sample) {
    return {.unit = Playhead::Unit::kSample, .start = static_cast<int64_t>(sample)};
  }

  static services::model::Pacing Loop(uint64_t first, uint64_t end, uint64_t turns) {
    return {.loop = services::model::SampleRange{first, end}, .loop_count = turns};
  }

  std::string recording_;
  std::string whole_;
  services::Job ended_;
};

TEST_P(PacedJobTest, TheFirstAndTheLastSampleAreExact) {
  const struct {
    uint64_t first;
    uint64_t end;
  } rows[] = {{1, kSamples},
              {12'345, 54'321},
              {kBlockSamples, 3 * kBlockSamples},
              {kBlockSamples - 1, kBlockSamples + 1},
              {kSamples - 1, kSamples}};
  for (const auto& [first, end] : rows) {
    const std::string got =
        PlayedFile({.playhead = FromSample(first), .pacing = {.end_sample = end}});
    EXPECT_EQ(got == Bytes(first, end), true) << first << " to " << end << ": " << got.size();
    ASSERT_TRUE(ended_.timing.has_value());
    EXPECT_EQ(ended_.timing->samples, end - first);
    const uint64_t blocks = (end - 1) / kBlockSamples - first / kBlockSamples + 1;
    EXPECT_EQ(ended_.blocks, blocks) << "what was read ahead is not what was given";
    EXPECT_EQ(ended_.bytes, blocks * kTestBlockBytes);
  }
  EXPECT_EQ(PlayedFile({.playhead = FromSample(777)}) == Bytes(777, kSamples), true);
  EXPECT_EQ(PlayedFile({.pacing = {.end_sample = 5}}) == Bytes(0, 5), true);
}

// The list, exports and packets tell one time of a sample: the recording's start and its number.
TEST_P(PacedJobTest, PacketsHaveTheTimeOfTheSampleThatIsPlayedFirst) {
  const auto recording = node_->recordings().GetRecording(recording_);
  ASSERT_TRUE(recording.ok() && recording->start_time_ns.has_value());
  for (const uint64_t first :
       {uint64_t{0}, uint64_t{1}, uint64_t{12'345}, 3 * kBlockSamples, 3 * kBlockSamples + 7}) {
    const FirstPacket listener;
    PlaybackSpec spec{.sink = {"udp", {{"address", listener.address()}, {"packets", "vita49"}}},
                      .playhead = FromSample(first),
                      .pacing = {.end_sample = first + 500}};
    spec.transfer.transforms = {Convert("cf32_le", "cf32_be")};
    const auto job = Ended(Start(spec));
    EXPECT_TRUE(job.error.ok()) << job.error;
    EXPECT_EQ(listener.TimeNs(), *recording->start_time_ns + static_cast<int64_t>(first) * 1000)
        << "from sample " << first;
  }
}

TEST_P(PacedJobTest, SamplesFromWithinABlockVerify) {
  const auto job = Ended(Start({.sink = Verify(), .playhead = FromSample(5000)}));
  EXPECT_TRUE(job.error.ok()) << job.error;
  EXPECT_EQ(job.timing->samples, kSamples - 5000);
  EXPECT_THAT(job.notes, testing::Not(testing::Contains(services::Noted("CONTENT_NOT_COMPARED"))));
  const auto loop = Ended(Start({.sink = Verify(), .pacing = Loop(5, 5000, 20)}));
  EXPECT_TRUE(loop.error.ok()) << loop.error;
  EXPECT_THAT(loop.notes, testing::Contains(services::Noted("CONTENT_NOT_COMPARED|cause=LOOP")));
}

// The node sends more than is given: what is missing of that alone is not missed.
TEST_P(PacedJobTest, OnlyWhatWasAskedForCanBeMissing) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path())) {
    if (!entry.is_regular_file() || entry.file_size() < kBlocks * kTestBlockBytes) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (uint64_t block = 2; block < kBlocks; ++block) {
      file.seekp(static_cast<std::streamoff>(block * kTestBlockBytes + 100));
      file.write("damaged", 7);
    }
  }
  EXPECT_EQ(PlayedFile({.playhead = FromSample(1000), .pacing = {.end_sample = 1100}}) ==
                Bytes(1000, 1100),
            true);
  const auto loop = Ended(Start({.pacing = Loop(1000, 1100, 3)}));
  EXPECT_TRUE(loop.error.ok()) << loop.error;
  const auto within =
      Ended(Start({.playhead = FromSample(1000), .pacing = {.end_sample = 2 * kBlockSamples + 1}}));
  EXPECT_FALSE(within.error.ok());
  EXPECT_EQ(within.lost_blocks, 1u);
}

TEST_P(PacedJobTest, ALoopHasNoSeam) {
  constexpr uint64_t kTurns = 30;
  const std::string turn = Bytes(20'000, 20'000 + 12'345);
  std::string want;
  for (uint64_t i = 0; i < kTurns; ++i) want += turn;
  EXPECT_EQ(PlayedFile({.pacing = Loop(20'000, 20'000 + 12'345, kTurns)}) == want, true);
  EXPECT_EQ(ended_.timing->turns, kTurns);
  EXPECT_EQ(ended_.timing->samples, kTurns * 12'345);
}

TEST_P(PacedJobTest, AnEndlessLoopGoesOnUntilItIsCancelled) {
  const auto job = Start({.pacing = Loop(kSamples - 100, kSamples, 0)});
  const absl::Time until = dataplane::SteadyTime() + absl::Seconds(60);
  while (dataplane::SteadyTime() < until &&
         !(job->state().timing.has_value() && job->state().timing->turns > 1000)) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  job->Cancel();
  const services::Job ended = Ended(job);
  EXPECT_EQ(ended.state, JobState::kCancelled);
  EXPECT_GT(ended.timing->turns, 1000u);
}

TEST_P(PacedJobTest, SamplesGoAtTheirRate) {
  // 73,728 samples: the last block begins after 32.768 ms.
  const auto job = Ended(Start({.pacing = {.rate_factor = 2}}));
  ASSERT_TRUE(job.error.ok()) << job.error;
  EXPECT_EQ(job.timing->samples_per_s, 2 * kSampleRate);
  EXPECT_EQ(job.timing->samples, kSamples);
  uint64_t counted = 0;
  for (const auto& count : job.timing->jitter) counted += count.blocks;
  EXPECT_EQ(counted, kBlocks);
  EXPECT_GE(job.elapsed_ns, 32 * kMillisecondNs);
  EXPECT_EQ(job.blocks, kBlocks);
}

TEST_P(PacedJobTest, TheFirstSampleIsNotBeforeItsTime) {
  const int64_t at_ns = dataplane::SystemClock().WallNs() + 150 * kMillisecondNs;
  const auto job = Ended(Start({.pacing = {.rate_factor = 10, .at_ns = at_ns}}));
  ASSERT_TRUE(job.error.ok()) << job.error;
  EXPECT_GE(job.timing->first_time_ns, at_ns);
  EXPECT_EQ(job.timing->after_at_ns, job.timing->first_time_ns - at_ns);

  const int64_t record_ns = dataplane::SystemClock().WallNs() + 150 * kMillisecondNs;
  Record(kChannel, {.at_ns = record_ns});
  ASSERT_TRUE(ended_.timing.has_value());
  EXPECT_GE(ended_.timing->first_time_ns, record_ns);
  EXPECT_EQ(ended_.timing->after_at_ns, ended_.timing->first_time_ns - record_ns);
}

TEST_P(PacedJobTest, WhatWaitsForItsTimeCanBeCancelled) {
  const int64_t at_ns = dataplane::SystemClock().WallNs() + 3600 * dataplane::kSecondNs;
  const auto playing = Start({.pacing = {.at_ns = at_ns}});
  services::RecordSpec spec{.source = Synth(), .blocks = 1, .at_ns = at_ns};
  spec.transfer.target = kChannel;
  const auto recording = job::Job::StartRecord("jobs/3", spec, Environment(), Nodes()).value();
  for (const auto& job : {playing, recording}) {
    while (job->state().state == JobState::kStarting) absl::SleepFor(absl::Milliseconds(1));
    job->Cancel();
    EXPECT_EQ(Ended(job).state, JobState::kCancelled);
  }
}

TEST_P(PacedJobTest, WhatCannotBeIsNamed) {
  const auto field_of = [](const absl::Status& status) {
    const auto reason = services::ReasonOf(status);
    return reason.has_value() && reason->reason == "ARGUMENT_INVALID" ? reason->metadata.at("field")
                                                                      : status.ToString();
  };
  const auto refused = [&](PlaybackSpec spec) {
    spec.transfer.target = recording_;
    spec.sink = Null();
    const auto job = job::Job::StartPlayback("jobs/2", spec, Environment(), Nodes());
    return field_of(job.ok() ? Ended(job).error : job.status());
  };
  EXPECT_EQ(refused({.pacing = Loop(5, kSamples + 1, 1)}), "pacing.loop");
  EXPECT_EQ(refused({.pacing = Loop(2 * kSamples, 3 * kSamples, 1)}), "pacing.loop");
  EXPECT_EQ(refused({.pacing = Loop(0, uint64_t{1} << 40, 1)}), "pacing.loop");
  EXPECT_EQ(refused({.pacing = {.end_sample = kSamples + 1}}), "pacing.end_sample");
  EXPECT_EQ(refused({.playhead = FromSample(kSamples)}), "playhead");
  EXPECT_EQ(refused({.pacing = {.rate_factor = 1e-6}}), "pacing.rate_factor")
      << "hours for a block";
  AddChannel("luns/l/channels/unknown", kTestBlockBytes, /*sample_rate=*/0);
  recording_ = Record("luns/l/channels/unknown", {});
  EXPECT_EQ(refused({.pacing = {.rate_factor = 1}}), "pacing.rate_factor");
}

INSTANTIATE_TEST_SUITE_P(Devices, PacedJobTest, testing::Values("host", "split"),
                         [](const auto& device) { return std::string(device.param); });

}  // namespace
}  // namespace tapedeck::gpu_worker
