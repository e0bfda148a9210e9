// A triggered channel from outside. Nothing is listed for a trigger or a sample that has not come.
// The newest capture is the first one of the list, and its name and start are those of its own
// samples. The job names its captures. The stream's end seals a capture that it cuts.

#include <gmock/gmock.h>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "tests/site/site.h"

namespace tapedeck::site {
namespace {

using services::model::RecordingState;

constexpr char kShort[] = "luns/l0/channels/t";
constexpr char kLong[] = "luns/l0/channels/long";

class TriggeredChannelTest : public SiteTest {
 protected:
  TriggeredChannelTest() {
    AddLun(node_, "l0", 1 << 30);
    AddTriggered(kShort, absl::Milliseconds(20));
    AddTriggered(kLong, absl::Hours(1));
  }

  void AddTriggered(const std::string& name, absl::Duration post_trigger) {
    const auto made =
        node_.catalog().CreateChannel({.name = name,
                                       .block_bytes = 64 << 10,
                                       .datatype = "cf32_le",
                                       .sample_rate = 1e6,
                                       .commit = dataplane::CommitLevel::kReceived,
                                       .pre_trigger_ns = 20'000'000,
                                       .post_trigger_ns = absl::ToInt64Nanoseconds(post_trigger)});
    EXPECT_TRUE(made.ok()) << made.status();
  }

  // A stream that is under way.
  services::Job Stream(const std::string& channel) {
    const auto job = worker_.jobs().StartRecord(Recording(node_, channel));
    EXPECT_TRUE(job.ok()) << job.status();
    EXPECT_TRUE(AwaitBlocks(worker_, *job, 50));
    return *job;
  }

  services::Capture Trigger(const std::string& channel, std::optional<uint64_t> sample = {}) {
    const auto captures =
        node_.recorder().TriggerRecording(channel, {.sample = sample, .label = "seen"});
    EXPECT_TRUE(captures.ok()) << captures.status();
    return captures.ok() && !captures->empty() ? captures->front() : services::Capture();
  }

  // Of a capture, once that is closed.
  std::string AwaitCapture() {
    const std::string name = Trigger(kShort).recording;
    EXPECT_TRUE(Await([&] { return node_.IsClosed(name); })) << name << " is not closed";
    return name;
  }

  std::vector<std::string> NamesOf(const std::string& channel) {
    std::vector<std::string> names;
    const auto recordings = node_.catalog().ListRecordings(channel);
    EXPECT_TRUE(recordings.ok()) << recordings.status();
    for (const services::Recording& recording : *recordings) names.push_back(recording.name);
    return names;
  }

  services::Job EndOf(const services::Job& job) {
    EXPECT_TRUE(worker_.jobs().StopJob(job.name).ok());
    return worker_.Ended(job);
  }

  Node& node_ = AddNode();
  Worker& worker_ = AddWorker();
};

TEST_F(TriggeredChannelTest, TwoTriggersMakeTwoRecordings) {
  const services::Job job = Stream(kShort);
  EXPECT_EQ(Trigger(kShort, 1'000'000'000'000).recording, "") << "a sample that is to come";
  EXPECT_THAT(NamesOf(kShort), testing::IsEmpty());

  const std::string first = AwaitCapture();
  EXPECT_THAT(NamesOf(kShort), testing::ElementsAre(first));
  const services::Recording shown = node_.RecordingNamed(first);
  ExpectWhole(worker_.Play(Playing(node_, first)), shown.blocks);
  ASSERT_TRUE(shown.start_time_ns.has_value());
  const std::string start = absl::FormatTime(
      "%Y%m%dT%H%M%SZ-", absl::FromUnixNanos(*shown.start_time_ns), absl::UTCTimeZone());
  EXPECT_THAT(first, testing::HasSubstr("/recordings/" + start));

  const std::string second = AwaitCapture();
  EXPECT_EQ(node_.Newest(kShort).name, second);
  const services::Job ended = EndOf(job);
  EXPECT_EQ(ended.state, services::model::JobState::kSucceeded) << ended.error;
  EXPECT_THAT(ended.captures, testing::ElementsAre(first, second));
}

TEST_F(TriggeredChannelTest, EndOfStreamSealsCaptureThatItCuts) {
  const services::Job job = Stream(kLong);
  const std::string name = Trigger(kLong).recording;
  const services::Job ended = EndOf(job);
  EXPECT_EQ(ended.state, services::model::JobState::kSucceeded) << ended.error;
  EXPECT_TRUE(Await([&] { return node_.IsClosed(name); }));
  const services::Recording cut = node_.RecordingNamed(name);
  EXPECT_EQ(cut.state, RecordingState::kSealed);
  EXPECT_EQ(cut.cause, "the stream ended before the capture did");
}

}  // namespace
}  // namespace tapedeck::site
