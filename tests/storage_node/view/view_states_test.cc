// Recordings that are being written, damaged, empty, or of other samples than complex floats.
#include <gmock/gmock.h>

#include "storage_node/view/patience.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/view/view_fixture.h"

namespace tapedeck::storage_node::view {
namespace {

using services::SampleSpan;

services::Timeline TimelineOf(NodeFixture& node, const std::string& name) {
  const auto timeline = node.node().view().GetTimeline(name);
  EXPECT_TRUE(timeline.ok()) << timeline.status();
  return timeline.value_or(services::Timeline());
}

class LiveViewTest : public testing::TestWithParam<StoreCase> {};

TEST_P(LiveViewTest, ItGrowsWithItsRecording) {
  NodeFixture node(GetParam().store, GetParam().members, 64 << 20, 256 << 20);
  auto recorder = node.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const std::string name = recorder->admission.accept.recording;
  EXPECT_EQ(TimelineOf(node, name).samples, 0u);
  EXPECT_EQ(Reason(node.node().view().ReadEnvelope({.recording = name, .points = 1}).status()),
            "ARGUMENT_INVALID");
  for (uint64_t i = 0; i < 8; ++i) {
    Push(*recorder, i, i == 5 ? std::vector<std::byte>() : Tone(i, 0.25, 1));
    const uint64_t samples = (i + 1) * kBlockSamples;
    ASSERT_TRUE(
        node.executor().RunUntil([&] { return TimelineOf(node, name).samples == samples; }));
  }
  EXPECT_EQ(TimelineOf(node, name).state, services::RecordingState::kRecording);
  const auto made =
      node.node().view().ReadSpectrogram({.recording = name, .columns = 64, .rows = 8});
  ASSERT_TRUE(made.ok()) << made.status();
  for (uint32_t row = 0; row < 8; ++row) {
    if (row == 5) {
      EXPECT_TRUE(std::isnan(At(*made, row, 0)));
      continue;
    }
    EXPECT_EQ(Loudest(*made, row), 32u + 16) << row;
    EXPECT_NEAR(At(*made, row, 48), 0, 0.1);
  }
  ASSERT_TRUE(recorder->Finish().ok());
  EXPECT_EQ(TimelineOf(node, name).state, services::RecordingState::kSealed);
}

INSTANTIATE_TEST_SUITE_P(Stores, LiveViewTest, testing::ValuesIn(kStores), NameOfCase);

// So many blocks of a tone.
std::string RecordTone(NodeFixture& node, uint64_t blocks) {
  auto recorder = node.Record();
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < blocks; ++i) Push(*recorder, i, Tone(i, 0.25, 1));
  EXPECT_TRUE(recorder->Finish().ok());
  return recorder->admission.accept.recording;
}

// Nothing is shown that has not the CRC that the index keeps of it.
TEST(DamagedViewTest, ADamagedPieceIsMissingAndCounted) {
  NodeFixture node;
  const std::string name = RecordTone(node, 4);
  const uint64_t piece = kBlockSamples + 3 * kPieceSamples;
  FlipBit(node.Directory(name) + "/data", piece * 8 + 100);
  const auto look = [&](uint64_t first) {
    return node.node()
        .view()
        .ReadSpectrogram({.recording = name,
                          .span = {.first = first, .count = kPieceSamples},
                          .columns = 64,
                          .rows = 1})
        .value();
  };
  EXPECT_TRUE(std::isnan(look(piece).powers[0]));
  EXPECT_EQ(look(piece).damaged_pieces, 1u);
  EXPECT_FALSE(std::isnan(look(piece + kPieceSamples).powers[0]));
  EXPECT_FALSE(std::isnan(look(piece - kPieceSamples).powers[0]));
  const auto samples = node.node().view().ReadSamples(
      {.recording = name, .span = {.first = kBlockSamples, .count = kBlockSamples}, .raw = true});
  ASSERT_TRUE(samples.ok()) << samples.status();
  EXPECT_THAT(samples->missing, testing::ElementsAre(SampleSpan{piece, kPieceSamples}));
  EXPECT_EQ(samples->damaged_pieces, 1u);
  const auto expected = Tone(1, 0.25, 1);
  EXPECT_EQ(samples->bytes.substr(0, 4096),
            std::string(reinterpret_cast<const char*>(expected.data()), 4096));
}

TEST(DamagedViewTest, ABlockWithoutASoundIndexEntryIsMissing) {
  NodeFixture node;
  const std::string name = RecordTone(node, 4);
  const auto format = format::EntryFormat::Of(kBlockBytes, 0);
  FlipBit(node.Directory(name) + "/index", format.Offset(2) + 20);
  const auto made =
      node.node().view().ReadSpectrogram({.recording = name, .columns = 64, .rows = 4});
  ASSERT_TRUE(made.ok()) << made.status();
  for (uint32_t row = 0; row < 4; ++row) EXPECT_EQ(std::isnan(At(*made, row, 0)), row == 2) << row;
  EXPECT_EQ(made->damaged_pieces, 1u);
}

// With two members the other copy has it.
TEST(DamagedViewTest, AnEntryIsTakenFromTheOtherCopy) {
  NodeFixture node("posix", 2);
  const std::string name = RecordTone(node, 4);
  const auto format = format::EntryFormat::Of(kBlockBytes, 0);
  FlipBit(node.Directory(name) + "/index", format.Offset(2) + 20);
  const auto made =
      node.node().view().ReadSpectrogram({.recording = name, .columns = 64, .rows = 4});
  ASSERT_TRUE(made.ok()) << made.status();
  for (uint32_t row = 0; row < 4; ++row) EXPECT_FALSE(std::isnan(At(*made, row, 0))) << row;
}

TEST(ViewOfOtherSamplesTest, ARealToneIsBetweenZeroAndHalfTheRate) {
  NodeFixture node;
  const std::string channel = "luns/l/channels/real";
  ASSERT_TRUE(node.node()
                  .channels()
                  .CreateChannel({.name = channel,
                                  .block_bytes = kBlockBytes,
                                  .datatype = "ri16_be",
                                  .sample_rate = 1e6},
                                 "")
                  .ok());
  auto recorder = node.Record({.channel = channel});
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::vector<std::byte> payload;
  for (uint64_t n = 0; n < kBlockBytes / 2; ++n) {
    const double turns = 20.0 / 128 * static_cast<double>(n);
    const auto value = static_cast<int16_t>(
        std::lround(32767 * std::sin(2 * std::numbers::pi * (turns - std::floor(turns)))));
    payload.push_back(static_cast<std::byte>(value >> 8));
    payload.push_back(static_cast<std::byte>(value & 0xff));
  }
  Push(*recorder, 0, payload, kBlockBytes / 2);
  ASSERT_TRUE(recorder->Finish().ok());
  const auto made = node.node().view().ReadSpectrogram(
      {.recording = recorder->admission.accept.recording, .columns = 64, .rows = 2});
  ASSERT_TRUE(made.ok()) << made.status();
  for (const uint32_t row : {0u, 1u}) {
    EXPECT_EQ(Loudest(*made, row), 20u);
    EXPECT_NEAR(At(*made, row, 20), 0, 0.1);
  }
}

// Fewer samples than a transform takes: the level is right all the same.
TEST(ViewOfOtherSamplesTest, AShortRecordingIsShown) {
  NodeFixture node;
  auto recorder = node.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  Push(*recorder, 0, Tone(0, 0.25, 1, 100));
  ASSERT_TRUE(recorder->Finish().ok());
  const auto made = node.node().view().ReadSpectrogram(
      {.recording = recorder->admission.accept.recording, .columns = 1024, .rows = 3});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(Loudest(*made, 1), 512u + 256);
  EXPECT_NEAR(At(*made, 1, 768), 0, 0.1);
}

TEST(ViewOfOtherSamplesTest, AnnotationsLieWhereTheirSamplesDo) {
  NodeFixture node;
  const std::string name = node.RecordAndSeal(4);  // sample indexes of 1000 a block
  const auto annotate = [&](uint64_t sample, const char* label, const char* comment) {
    const services::Annotation one{
        .sample_start = sample, .sample_count = 10, .label = label, .comment = comment};
    ASSERT_TRUE(node.node().recorder().AnnotateRecording(name, one).ok());
  };
  annotate(7, "signal", "frequency=1e8 gain=3");
  annotate(500, "burst", "");
  annotate(UINT64_MAX / 2, "elsewhere", "");
  const auto timeline = TimelineOf(node, name);
  EXPECT_EQ(timeline.frequency, 1e8);
  EXPECT_EQ(timeline.annotations_total, 3u);
  ASSERT_EQ(timeline.annotations.size(), 2u);
  EXPECT_EQ(timeline.annotations[1].sample_start, 500u);
  ASSERT_EQ(timeline.captures.size(), 2u);
  EXPECT_EQ(timeline.captures[0].frequency, 0);
  EXPECT_EQ(timeline.captures[1].sample, 7u);
  EXPECT_EQ(timeline.captures[1].stream_sample, 7u);
  EXPECT_EQ(timeline.captures[1].time_ns, *timeline.start_time_ns + 7);
  EXPECT_EQ(timeline.captures[1].frequency, 1e8);
}

TEST(ViewOfOtherSamplesTest, APictureHasTheFrequencyOfItsFirstSample) {
  NodeFixture node;
  auto recorder = node.Record();
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  for (uint64_t i = 0; i < 3; ++i) Push(*recorder, i, Tone(i, 0.25, 1));
  ASSERT_TRUE(recorder->Finish().ok());
  const std::string name = recorder->admission.accept.recording;
  const auto tune = [&](uint64_t sample, const char* comment) {
    const services::Annotation one{.sample_start = sample, .label = "signal", .comment = comment};
    ASSERT_TRUE(node.node().recorder().AnnotateRecording(name, one).ok());
  };
  const auto frequency_at = [&](uint64_t first) {
    const auto made = node.node().view().ReadSpectrogram(
        {.recording = name, .span = {.first = first}, .columns = 16, .rows = 1});
    return made.ok() ? made->frequency : -1;
  };
  tune(kBlockSamples + 5, "frequency=434500000");
  EXPECT_EQ(frequency_at(0), 0) << "it is not known there";
  tune(0, "frequency=433920000");
  tune(kBlockSamples + 7, "gain=3");
  EXPECT_EQ(frequency_at(0), 433.92e6);
  EXPECT_EQ(frequency_at(kBlockSamples + 4), 433.92e6);
  EXPECT_EQ(frequency_at(kBlockSamples + 5), 434.5e6);
  EXPECT_EQ(frequency_at(2 * kBlockSamples), 434.5e6);
}

// Whatever the disk does.
TEST(PatienceTest, AWaitEndsInTime) {
  const dataplane::SystemClock clock;
  Patience patience(clock, absl::Milliseconds(5), "luns/l");
  const absl::Status status = patience.Await([] { return false; });
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(Reason(status), "LUN_NOT_RESPONDING");
  Patience longer(clock, absl::Hours(1), "luns/l");
  EXPECT_TRUE(longer.Await([] { return true; }).ok());
}

}  // namespace
}  // namespace tapedeck::storage_node::view
