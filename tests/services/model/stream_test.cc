// Segments as one stream: where its blocks lie, and what is gone of it.
#include "services/model/recording/stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::model {
namespace {

constexpr char kBase[] = "luns/l0/channels/c0/recordings/";
constexpr uint64_t kBlock = 65536;

Recording Segment(uint64_t number, uint64_t blocks) {
  return {.name = absl::StrCat(kBase, "s-", number),
          .state = RecordingState::kSealed,
          .blocks = blocks,
          .bytes = blocks * kBlock,
          .durable_watermark = blocks,
          .block_bytes = kBlock,
          .stream = "s",
          .segment = number};
}

Stream StreamOf(const std::vector<Recording>& segments) { return StreamsOf(segments).front(); }

TEST(StreamTest, LiesSegmentBehindSegment) {
  Recording last = Segment(2, 3);
  last.bytes -= 100;
  const StreamLayout layout = LayOut(StreamOf({last, Segment(1, 16), Segment(0, 16)}));
  EXPECT_EQ(layout.whole.name, std::string(kBase) + "s");
  EXPECT_EQ(layout.whole.blocks, 35u);
  EXPECT_EQ(layout.whole.bytes, 35 * kBlock - 100);
  EXPECT_EQ(layout.whole.missing_blocks, 0u);
  ASSERT_EQ(layout.pieces.size(), 3u);
  EXPECT_EQ(layout.pieces[2].first, 32u);
  EXPECT_EQ(layout.pieces[2].end(), 35u);
}

TEST(StreamTest, WhatIsGoneIsMissing) {
  // The ring has deleted 5, 6 and 7; a failure cut 8.
  const Recording salvaged = Segment(8, 10);
  const StreamLayout layout =
      LayOut(StreamOf({Segment(9, 4), salvaged, Segment(4, 16), Segment(3, 16)}));
  ASSERT_EQ(layout.pieces.size(), 4u);
  EXPECT_EQ(layout.pieces[1].first, 16u);
  EXPECT_EQ(layout.pieces[2].first, 80u);
  EXPECT_EQ(layout.pieces[3].first, 96u);
  EXPECT_EQ(layout.whole.blocks, 100u);
  EXPECT_EQ(layout.whole.missing_blocks, 48u + 6u);
  const Recording joined = Joined(StreamOf({Segment(8, 4), Segment(4, 16), Segment(3, 16)}));
  EXPECT_EQ(joined.blocks, 84u);
  EXPECT_EQ(joined.missing_blocks, 48u);
  EXPECT_EQ(layout.whole.bytes, 46 * kBlock);
}

TEST(StreamTest, WhatIsWrittenHasWhatIsDurable) {
  Recording closing = Segment(1, 16);
  closing.state = RecordingState::kRecording;
  closing.durable_watermark = 12;
  Recording newest = Segment(2, 2);
  newest.state = RecordingState::kRecording;
  const Stream stream = StreamOf({newest, closing, Segment(0, 16)});
  EXPECT_TRUE(stream.under_way());
  const StreamLayout layout = LayOut(stream);
  EXPECT_EQ(layout.whole.state, RecordingState::kRecording);
  EXPECT_EQ(layout.whole.durable_watermark, 28u) << "nothing behind a block that is not durable";
  EXPECT_EQ(layout.pieces.size(), 2u);
}

TEST(StreamTest, OneRecordingIsItself) {
  Recording one = Segment(3, 7);
  one.missing_blocks = 2;
  const StreamLayout layout = LayOut(Alone(one));
  EXPECT_EQ(layout.whole.name, one.name);
  EXPECT_EQ(layout.whole.blocks, 7u);
  EXPECT_EQ(layout.whole.missing_blocks, 2u);
  EXPECT_FALSE(Alone(one).under_way());
}

// While a segment is deleted, the next one has taken its signal already.
TEST(StreamTest, TellsASignalOfTwoSegmentsOnce) {
  Recording first = Segment(0, 16), second = Segment(1, 16);
  const Annotation signal{.label = "signal", .comment = "frequency=1"};
  const Annotation newer{.sample_start = 9000, .label = "signal", .comment = "frequency=2"};
  first.annotations = {signal, newer};
  second.annotations = {newer, {.sample_start = 70'000, .label = "seen"}};
  const Recording joined = Joined(StreamOf({second, first}));
  ASSERT_EQ(joined.annotations.size(), 3u);
  EXPECT_EQ(joined.annotations[1], newer);
  EXPECT_EQ(joined.annotations[2].label, "seen");
}

TEST(StreamTest, HasTheLabelsOfAllSegments) {
  Recording first = Segment(0, 16), second = Segment(1, 16);
  first.labels = {{"site", "north"}};
  second.labels = {{"site", "south"}, {"seen", "burst"}};
  second.description = "a test";
  const Recording joined = Joined(StreamOf({second, first}));
  EXPECT_EQ(joined.labels, (Labels{{"site", "north"}, {"seen", "burst"}}));
  EXPECT_EQ(joined.description, "a test");
}

TEST(StreamTest, SaysWhichSegmentsThereAre) {
  const auto text = [](const std::vector<uint64_t>& numbers) {
    Stream stream{.name = "s", .segmented = true};
    for (const uint64_t number : numbers) stream.segments.push_back({.segment = number});
    return SegmentsText(stream);
  };
  EXPECT_EQ(text({0, 1, 2}), "3");
  EXPECT_EQ(text({101, 102}), "2 (101-102)");
  EXPECT_EQ(text({5, 6, 164}), "3 of 5-164");
  EXPECT_EQ(SegmentsText({.name = "r", .segments = {Recording()}}), "-");
}

}  // namespace
}  // namespace tapedeck::services::model
