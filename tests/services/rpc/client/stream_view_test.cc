// A stream looked at as one recording, by answers about its segments.
#include "services/rpc/client/stream_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::client {
namespace {

constexpr uint64_t kBlockSamples = 1000;

std::string NameOf(uint64_t number) {
  return absl::StrCat("luns/l/channels/c/recordings/s-", number);
}

Recording Segment(uint64_t number, uint64_t blocks) {
  return {.name = NameOf(number),
          .state = RecordingState::kSealed,
          .blocks = blocks,
          .bytes = blocks * kBlockSamples,
          .durable_watermark = blocks,
          .block_bytes = kBlockSamples,
          .start_time_ns = 5,
          .stream = "s",
          .segment = number};
}

// Segments of 4 blocks, whose samples are all of the number of the segment. Asked for what a
// segment does not have, it fails as the node does.
class FakeView final : public ViewControl {
 public:
  absl::StatusOr<Timeline> GetTimeline(const std::string& recording) override {
    ++timelines;
    const auto number = NumberOf(recording);
    if (!number.ok()) return number.status();
    const uint64_t first = *number * 4 * kBlockSamples;
    return Timeline{.state = RecordingState::kSealed,
                    .samples = SamplesOf(*number),
                    .datatype = "ru8",
                    .durable_samples = SamplesOf(*number),
                    .captures = {{.sample = 0, .stream_sample = first}},
                    .annotations = {{.sample_start = 7, .label = absl::StrCat("mark", *number)}},
                    .annotations_total = 1,
                    .block_samples = kBlockSamples};
  }
  absl::StatusOr<Spectrogram> ReadSpectrogram(const SpectrogramRequest& request) override {
    const auto number = Check(request.recording, request.span);
    if (!number.ok()) return number.status();
    asked.push_back(request.span);
    return Spectrogram{.columns = request.columns,
                       .rows = request.rows,
                       .powers = std::vector<float>(size_t{request.rows} * request.columns,
                                                    static_cast<float>(*number)),
                       .bytes_read = 1,
                       .complex = true,
                       .band_rate = 4,
                       .bins = 16,
                       .covered_samples = request.span.count / 2,
                       .means = std::vector<float>(request.columns, *number == 0 ? 0 : -200),
                       .transforms = 10};
  }
  absl::StatusOr<Samples> ReadSamples(const SamplesRequest& request) override {
    const auto number = Check(request.recording, request.span);
    if (!number.ok()) return number.status();
    return Samples{.span = request.span,
                   .bytes = std::string(request.span.count, static_cast<char>('0' + *number))};
  }
  absl::StatusOr<Envelope> ReadEnvelope(const EnvelopeRequest& request) override {
    const auto number = Check(request.recording, request.span);
    if (!number.ok()) return number.status();
    const std::vector<float> all(request.points, static_cast<float>(*number));
    return Envelope{.minima = all, .maxima = all, .powers = all};
  }

  uint64_t last = 0;  // segment, which is 10 samples short
  std::string gone;
  int timelines = 0;
  std::vector<SampleSpan> asked;  // of pictures

 private:
  uint64_t SamplesOf(uint64_t number) const {
    return 4 * kBlockSamples - (number == last ? 10 : 0);
  }
  absl::StatusOr<uint64_t> NumberOf(const std::string& recording) const {
    if (recording == gone) return RecordingNotFound(recording, "gone");
    return static_cast<uint64_t>(recording.back() - '0');
  }
  absl::StatusOr<uint64_t> Check(const std::string& recording, const SampleSpan& span) const {
    const auto number = NumberOf(recording);
    if (!number.ok()) return number.status();
    if (span.count == 0 || span.end() > SamplesOf(*number))
      return ArgumentInvalid("span", recording);
    return number;
  }
};

struct Looked {
  explicit Looked(std::vector<Recording> segments) {
    auto fake = std::make_unique<FakeView>();
    node = fake.get();
    node->last = segments.back().segment;
    now = {.name = "luns/l/channels/c/recordings/s",
           .segments = std::move(segments),
           .segmented = true};
    view = std::make_unique<StreamView>(std::move(fake), now,
                                        [this] { return absl::StatusOr<Stream>(now); });
  }
  Stream now;
  FakeView* node = nullptr;
  std::unique_ptr<StreamView> view;
};

TEST(StreamViewTest, SamplesGoOnFromSegmentToSegment) {
  Looked looked({Segment(0, 4), Segment(1, 4), Segment(2, 4)});
  const Timeline timeline = looked.view->GetTimeline("s").value();
  EXPECT_EQ(timeline.samples, 12 * kBlockSamples - 10);
  EXPECT_EQ(timeline.captures.size(), 1u) << "without a gap there is no other capture";
  EXPECT_EQ(timeline.start_time_ns, model::SampleTime(5));
  EXPECT_TRUE(timeline.gaps.empty());
  const Samples read =
      looked.view->ReadSamples({.span = {.first = 3998, .count = 4004}, .raw = true}).value();
  EXPECT_EQ(read.bytes, "00" + std::string(4000, '1') + "22");
  EXPECT_TRUE(read.missing.empty());
  EXPECT_EQ(
      ReasonOf(looked.view->ReadSamples({.span = {.first = 11990, .count = 1}}).status())->reason,
      "ARGUMENT_INVALID");
}

TEST(StreamViewTest, WhatIsGoneIsMissing) {
  Looked looked({Segment(1, 4), Segment(3, 4), Segment(4, 4)});
  const Timeline timeline = looked.view->GetTimeline("s").value();
  EXPECT_EQ(timeline.samples, 16 * kBlockSamples - 10) << "from the oldest there is";
  EXPECT_EQ(timeline.gaps, (std::vector<SampleSpan>{{4000, 4000}}));
  EXPECT_EQ(timeline.captures.back().sample, 8000u);
  EXPECT_EQ(timeline.captures.back().stream_sample, 12000u);
  // One more goes while it is looked at: samples count as before.
  looked.node->gone = NameOf(1);
  looked.now.segments.erase(looked.now.segments.begin());
  EXPECT_EQ(looked.view->GetTimeline("s")->samples, 16 * kBlockSamples - 10);
  const Samples read =
      looked.view->ReadSamples({.span = {.first = 3999, .count = 4002}, .raw = true}).value();
  EXPECT_EQ(read.bytes, std::string(4001, '\0') + "3");
  EXPECT_EQ(read.missing, (std::vector<SampleSpan>{{3999, 1}, {4000, 4000}}));
}

TEST(StreamViewTest, PicturesHaveRowsOfAllSegments) {
  Looked looked({Segment(0, 4), Segment(1, 4), Segment(3, 4)});
  const Spectrogram picture = looked.view->ReadSpectrogram({.columns = 16, .rows = 8}).value();
  ASSERT_EQ(picture.rows, 8u);
  ASSERT_EQ(picture.powers.size(), 8u * 16);
  std::vector<float> rows;
  for (size_t row = 0; row < 8; ++row) rows.push_back(picture.powers[row * 16 + 15]);
  EXPECT_EQ(std::vector<float>(rows.begin(), rows.begin() + 4), (std::vector<float>{0, 0, 1, 1}));
  EXPECT_TRUE(std::isnan(rows[4]) && std::isnan(rows[5]));
  EXPECT_EQ(rows[6], 3);
  EXPECT_EQ(rows[7], 3);
  EXPECT_TRUE(picture.complex);
  EXPECT_EQ(picture.bytes_read, 3u) << "a call for each segment";
  EXPECT_EQ(picture.bins, 16u);
  EXPECT_EQ(picture.band_rate, 4);
  EXPECT_EQ(picture.covered_samples, 4000u + (12000 - 10) / 2) << "what is gone hides nothing";
  EXPECT_EQ(picture.transforms, 30u);
  EXPECT_NEAR(picture.means.at(0), -4.77, 0.01) << "a third of full scale";
  const Envelope envelope = looked.view->ReadEnvelope({.points = 4}).value();
  EXPECT_EQ(envelope.maxima[1], 1);
  EXPECT_EQ(
      looked.view->ReadSpectrogram({.span = {4100, 50}, .columns = 16, .rows = 200})->powers[0], 1);
}

// Rows that lie across two segments leave no sample out.
TEST(StreamViewTest, PicturesAskForAllOfEachSegment) {
  Looked looked({Segment(0, 4), Segment(1, 4), Segment(2, 4)});
  looked.view->ReadSpectrogram({.span = {100, 11000}, .columns = 16, .rows = 5}).value();
  EXPECT_EQ(looked.node->asked, (std::vector<SampleSpan>{{100, 3900}, {0, 4000}, {0, 3100}}));
}

TEST(StreamViewTest, AsksOnceForWhatIsClosed) {
  Looked looked({Segment(0, 4), Segment(1, 4), Segment(2, 4)});
  ASSERT_TRUE(looked.view->GetTimeline("s").ok());
  const int asked = looked.node->timelines;
  ASSERT_TRUE(looked.view->GetTimeline("s").ok());
  EXPECT_EQ(looked.node->timelines, asked);
}

}  // namespace
}  // namespace tapedeck::services::client
