// Positions that count from 0, as the numbers of a session's samples.
#include "services/site/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::tapectl {
namespace {

using model::Playhead;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kStartNs = 1'000'000'000'000;

// Three segments of 8 samples in blocks of 4, but that the last has 6; the oldest begins at 1000,
// and its first block is missing.
class Segments final : public ViewControl {
 public:
  explicit Segments(RecordingState last = RecordingState::kSealed) {
    for (uint64_t i = 0; i < 3; ++i) {
      const std::string name = absl::StrCat("luns/l/channels/c/recordings/s-", i + 5);
      stream_.segments.push_back({.name = name,
                                  .state = i == 2 ? last : RecordingState::kSealed,
                                  .blocks = 2,
                                  .bytes = i == 2 ? 24u : 32u,
                                  .block_bytes = 16,
                                  .datatype = "cf32_le",
                                  .stream = "s",
                                  .segment = i + 5});
      const uint64_t hole = i == 0 ? 4 : 0;
      timelines_[name] = {.state = stream_.segments.back().state,
                          .samples = i == 2 ? 6u : 8u,
                          .sample_rate = 1e9,
                          .start_time_ns = kStartNs + static_cast<int64_t>(8 * i),
                          .captures = {{.sample = hole, .stream_sample = 1000 + 8 * i + hole}},
                          .block_samples = 4};
    }
  }

  const Stream& stream() const { return stream_; }
  Stream segment(size_t i) const { return model::Alone(stream_.segments[i]); }
  // Its samples are numbered anew from its second block on.
  void Jump(size_t i) {
    timelines_[stream_.segments[i].name].captures.push_back({.sample = 4, .stream_sample = 5000});
  }
  void Empty(size_t i) { timelines_[stream_.segments[i].name].captures.clear(); }

  absl::StatusOr<Timeline> GetTimeline(const std::string& name) override {
    return timelines_.at(name);
  }
  absl::StatusOr<Spectrogram> ReadSpectrogram(const SpectrogramRequest&) override {
    return absl::UnimplementedError("not asked for");
  }
  absl::StatusOr<Samples> ReadSamples(const SamplesRequest&) override {
    return absl::UnimplementedError("not asked for");
  }
  absl::StatusOr<Envelope> ReadEnvelope(const EnvelopeRequest&) override {
    return absl::UnimplementedError("not asked for");
  }

 private:
  Stream stream_{.name = "luns/l/channels/c/recordings/s", .segmented = true};
  std::map<std::string, Timeline> timelines_;
};

Playhead AtSample(int64_t sample) { return {.unit = Playhead::Unit::kSample, .start = sample}; }
Playhead AtTime(int64_t ns) { return {.unit = Playhead::Unit::kTime, .start = ns}; }

std::string FieldOf(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  if (!reason.has_value() || reason->reason != "ARGUMENT_INVALID") return status.ToString();
  return reason->metadata.at("field");
}

TEST(PositionsTest, APlaybackCountsFromTheFirstSampleOfWhatIsNamed) {
  Segments segments;
  for (const auto& [named, first] :
       {std::pair(segments.stream(), uint64_t{1000}), {segments.segment(1), 1008}}) {
    Playhead playhead = AtSample(2);
    model::Pacing pacing{.end_sample = 6};
    const auto note = CountInSession(named, segments, playhead, pacing);
    ASSERT_TRUE(note.ok()) << note.status();
    EXPECT_THAT(*note, IsEmpty());
    EXPECT_EQ(playhead.start, static_cast<int64_t>(first + 2));
    EXPECT_EQ(pacing.end_sample, first + 6);
    playhead = {};
    pacing = {.loop = model::SampleRange{0, 6}};
    ASSERT_TRUE(CountInSession(named, segments, playhead, pacing).ok());
    EXPECT_EQ(pacing.loop->first, first);
    EXPECT_EQ(pacing.loop->end, first + 6);
    playhead = AtSample(0);
    pacing = {};
    ASSERT_TRUE(CountInSession(named, segments, playhead, pacing).ok());
    EXPECT_EQ(playhead.start, 0) << "the node's own word for the first";
  }
}

TEST(PositionsTest, APositionOutsideIsRefusedWithBothBounds) {
  Segments segments;
  struct Case {
    std::string field;
    Playhead playhead;
    model::Pacing pacing;
  };
  for (const Case& one :
       std::vector<Case>{{"playhead", AtSample(22), {}},
                         {"playhead", AtSample(INT64_MAX), {}},
                         {"pacing.end_sample", {}, {.end_sample = 23}},
                         {"pacing.loop", {}, {.loop = model::SampleRange{22, 30}}},
                         {"pacing.loop", {}, {.loop = model::SampleRange{0, 23}}}}) {
    Playhead playhead = one.playhead;
    model::Pacing pacing = one.pacing;
    const absl::Status refused =
        CountInSession(segments.stream(), segments, playhead, pacing).status();
    EXPECT_EQ(FieldOf(refused), one.field);
    EXPECT_THAT(refused.message(), HasSubstr("/s, which has 22 samples, 0 to 21"));
  }
  Playhead playhead = AtSample(21);
  model::Pacing pacing{.end_sample = 22};
  EXPECT_TRUE(CountInSession(segments.stream(), segments, playhead, pacing).ok());
}

TEST(PositionsTest, WhatGrowsMayComeToAPosition) {
  Segments growing(RecordingState::kRecording);
  Playhead playhead = AtSample(100);
  model::Pacing none;
  ASSERT_TRUE(CountInSession(growing.stream(), growing, playhead, none).ok());
  EXPECT_EQ(playhead.start, 1100);
  playhead = AtSample(INT64_MAX);
  EXPECT_EQ(FieldOf(CountInSession(growing.stream(), growing, playhead, none).status()),
            "playhead");
  playhead = AtSample(9);
  playhead.stream = true;
  Segments segments;
  ASSERT_TRUE(CountInSession(segments.segment(0), segments, playhead, none).ok());
  EXPECT_EQ(playhead.start, 1009) << "of a segment that follows";
  segments.Empty(0);
  playhead = AtSample(1);
  EXPECT_EQ(FieldOf(CountInSession(segments.stream(), segments, playhead, none).status()),
            "recording");
}

// Each by the numbers as they were typed.
TEST(PositionsTest, WhatIsOutOfOrderIsLeftToTheWorker) {
  Segments segments;
  Playhead playhead = AtSample(5);
  model::Pacing pacing{.end_sample = 5};
  ASSERT_TRUE(CountInSession(segments.stream(), segments, playhead, pacing).ok());
  EXPECT_EQ(playhead.start, 5);
  EXPECT_EQ(pacing.end_sample, 5u);
}

TEST(PositionsTest, ATimeBeforeTheStartIsTold) {
  Segments segments;
  model::Pacing none;
  const auto note = [&](int64_t ns) {
    Playhead playhead = AtTime(ns);
    return CountInSession(segments.stream(), segments, playhead, none);
  };
  EXPECT_THAT(*note(kStartNs - 1), HasSubstr("begins at 1970-01-01T00:16:40Z, later than"));
  EXPECT_THAT(*note(kStartNs + 21), IsEmpty());
  EXPECT_EQ(FieldOf(note(kStartNs + 22).status()), "playhead");
}

TEST(PositionsTest, AMarkGoesIntoTheSegmentWithItsSample) {
  Segments segments;
  for (const auto& [sample, segment] : {std::pair(0, 5), {7, 5}, {8, 6}, {21, 7}}) {
    const auto place = PlaceOfSample(segments.stream(), static_cast<uint64_t>(sample), segments);
    ASSERT_TRUE(place.ok()) << place.status();
    EXPECT_EQ(place->recording, absl::StrCat("luns/l/channels/c/recordings/s-", segment));
    EXPECT_EQ(place->sample, 1000u + static_cast<uint64_t>(sample));
  }
  segments.Jump(2);
  EXPECT_EQ(PlaceOfSample(segments.segment(2), 3, segments)->sample, 1019u);
  EXPECT_EQ(PlaceOfSample(segments.segment(2), 4, segments)->sample, 5000u);
  const auto alone = PlaceOfSample(segments.segment(2), 5, segments);
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_EQ(alone->sample, 5001u);
  for (const auto& [named, sample] : {std::pair(segments.stream(), uint64_t{22}),
                                      {segments.segment(2), 6},
                                      {segments.segment(2), UINT64_MAX}}) {
    EXPECT_EQ(FieldOf(PlaceOfSample(named, sample, segments).status()), "sample");
  }
  Segments growing(RecordingState::kRecording);
  const absl::Status none = PlaceOfSample(growing.stream(), 22, growing).status();
  EXPECT_THAT(none.message(), HasSubstr("no segment of luns/l/channels/c/recordings/s has sample"));
  EXPECT_TRUE(PlaceOfSample(growing.segment(2), 6, growing).ok());
}

}  // namespace
}  // namespace tapedeck::services::tapectl
