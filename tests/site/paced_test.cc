// Which samples a playback gives, and when: the first and the last to the sample, a loop without a
// seam over a thousand turns, at the recording's rate, and at a time of its own. What a file has of
// it is compared byte for byte.

#include <gmock/gmock.h>

#include <fstream>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "tests/site/site.h"

namespace tapedeck::site {
namespace {

using services::model::JobState;

constexpr char kPacedChannel[] = "luns/paced/channels/c0";
constexpr uint64_t kSamples = 500'000;  // of cu8, two bytes each; at 1e6 a second
constexpr uint64_t kBlocks = 16;

class PacedSiteTest : public SiteTest {
 protected:
  PacedSiteTest() : bytes_(2 * kSamples, '\0') {
    std::mt19937 random(7);
    for (char& byte : bytes_) byte = static_cast<char>(random());
    std::ofstream(path_, std::ios::binary) << bytes_;
    AddLun(node_, "paced", uint64_t{2} << 30);
    const auto made = node_.catalog().CreateChannel(
        {.name = kPacedChannel, .block_bytes = 64 << 10, .datatype = "cu8", .sample_rate = 1e6});
    EXPECT_TRUE(made.ok()) << made.status();
    recording_ = RecordFile(0).recording;
  }

  services::Job RecordFile(int64_t at_ns) {
    services::RecordSpec spec = Recording(node_, kPacedChannel);
    spec.source = {"file", {{"path", path_}}};
    spec.duration_ns = 0;
    spec.at_ns = at_ns;
    const services::Job job = worker_.Record(spec);
    ExpectWhole(job, kBlocks);
    return job;
  }

  services::PlaybackSpec Paced(const services::model::Pacing& pacing) {
    services::PlaybackSpec spec = Playing(node_, recording_);
    spec.sink = {"null"};
    spec.pacing = pacing;
    return spec;
  }

  // What it puts into a file.
  std::string PlayIntoFile(services::PlaybackSpec spec) {
    const std::string path = dir_.path() + "/out.bin";
    spec.sink = {"file", {{"path", path}, {"replace", "true"}}};
    job_ = worker_.Play(spec);
    EXPECT_EQ(job_.state, JobState::kSucceeded) << job_.error;
    EXPECT_EQ(job_.lost_blocks, 0u);
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string BytesOf(uint64_t first, uint64_t end) const {
    return bytes_.substr(2 * first, 2 * (end - first));
  }

  void ExpectRange(uint64_t first, uint64_t end) {
    services::PlaybackSpec spec = Paced({.end_sample = end});
    spec.playhead = {.unit = services::model::Playhead::Unit::kSample,
                     .start = static_cast<int64_t>(first)};
    EXPECT_TRUE(PlayIntoFile(spec) == BytesOf(first, end)) << first << " to " << end;
    ASSERT_TRUE(job_.timing.has_value());
    EXPECT_EQ(job_.timing->samples, end - first);
  }

  // It lasts at least so long, and each block's lateness is counted.
  void ExpectAtRate(double factor, absl::Duration least) {
    const services::Job job = worker_.Play(Paced({.rate_factor = factor}));
    ExpectWhole(job, kBlocks);
    ASSERT_TRUE(job.timing.has_value());
    EXPECT_GE(absl::Nanoseconds(job.elapsed_ns), least);
    EXPECT_EQ(job.timing->samples, kSamples);
    EXPECT_EQ(std::accumulate(job.timing->jitter.begin(), job.timing->jitter.end(), uint64_t{0},
                              [](uint64_t sum, const auto& one) { return sum + one.blocks; }),
              kBlocks);
  }

  std::string bytes_;
  const std::string path_ = dir_.path() + "/samples.bin";
  Node& node_ = AddNode();
  Worker& worker_ = AddWorker();
  std::string recording_;
  services::Job job_;
};

TEST_F(PacedSiteTest, GivesFirstAndLastToTheSample) {
  ExpectRange(1, kSamples);
  ExpectRange(12345, 300001);
  ExpectRange(32768, 65536);
  ExpectRange(kSamples - 1, kSamples);
  EXPECT_TRUE(PlayIntoFile(Paced({.end_sample = 100})) == BytesOf(0, 100));
}

TEST_F(PacedSiteTest, LoopHasNoSeamOverAThousandTurns) {
  const std::string looped =
      PlayIntoFile(Paced({.loop = {{.first = 20000, .end = 32345}}, .loop_count = 1000}));
  const std::string turn = BytesOf(20000, 32345);
  ASSERT_EQ(looped.size(), turn.size() * 1000);
  for (size_t at = 0; at < looped.size(); at += turn.size()) {
    ASSERT_TRUE(looped.compare(at, turn.size(), turn) == 0) << "turn " << at / turn.size();
  }
  ASSERT_TRUE(job_.timing.has_value());
  EXPECT_EQ(job_.timing->turns, 1000u);
  EXPECT_EQ(job_.timing->samples, 12'345'000u);
}

TEST_F(PacedSiteTest, LoopWithoutAnEndIsCancelled) {
  const auto started = worker_.jobs().StartPlayback(
      Paced({.rate_factor = 1000, .loop = {{.first = 100, .end = 200}}}));
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_TRUE(Await([&] {
    const services::Job now = worker_.Now(*started);
    return now.timing.has_value() && now.timing->turns > 100;
  }));
  ASSERT_TRUE(worker_.jobs().CancelJob(started->name).ok());
  const services::Job ended = worker_.Ended(started);
  EXPECT_EQ(ended.state, JobState::kCancelled);
  ExpectRefused(ended.error, absl::StatusCode::kCancelled, "JOB_CANCELLED");
}

// Blocks of 32,768 samples: the last one begins after 0.49 s at the rate of the recording.
TEST_F(PacedSiteTest, GivesSamplesAtARate) {
  ExpectAtRate(1, absl::Milliseconds(490));
  ExpectAtRate(2, absl::Milliseconds(240));
}

TEST_F(PacedSiteTest, BeginsAtATime) {
  const auto soon = [] { return absl::ToUnixNanos(dataplane::WallTime() + absl::Seconds(1)); };
  const services::Job played = worker_.Play(Paced({.rate_factor = 8, .at_ns = soon()}));
  ExpectWhole(played, kBlocks);
  ASSERT_TRUE(played.timing.has_value());
  EXPECT_GE(played.timing->after_at_ns, 0);
  const services::Job recorded = RecordFile(soon());
  ASSERT_TRUE(recorded.timing.has_value());
  EXPECT_GE(recorded.timing->after_at_ns, 0);
  EXPECT_NE(recorded.timing->first_time_ns, 0);
}

}  // namespace
}  // namespace tapedeck::site
