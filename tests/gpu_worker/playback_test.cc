#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "dataplane/crc/crc32c.h"
#include "gpu_worker/pipeline/playback_pipeline.h"
#include "gpu_worker/stages/synth/source.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/pipeline_test.h"
#include "tests/services/noted.h"
#include "tests/shared_data.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Block;
using dataplane::Flow;
using testing::HasSubstr;

class PlaybackTest : public PipelineTest {};

TEST_P(PlaybackTest, SynthVerifies) {
  const absl::Status status = RecordAndPlay({.source = Synth(3), .blocks = 50}, {.sink = Verify()});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(watermarks_.durable, 50u);
  EXPECT_TRUE(needs_order_);
}

TEST_P(PlaybackTest, MegabyteBlocksVerify) {
  const uint32_t points = HasFft() ? 1024 : 0;
  const absl::Status status = RecordAndPlay(
      {.source = Synth(), .fft = points, .blocks = 24, .slots = 16, .block_bytes = 1 << 20},
      {.sink = Verify()});
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(PlaybackTest, AFileComesBackIdenticalInAnyOrder) {
  std::string bytes(5 * kTestBlockBytes + 333, 'x');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 3);
  const std::string input = ScratchPath("in");
  const std::string output = ScratchPath("out");
  WriteFile(input, bytes);
  WriteFile(output, std::string(7 * kTestBlockBytes, 'y'));  // replaced
  const absl::Status status = RecordAndPlay({.datatype = "cu8", .source = FileSource(input)},
                                            {.sink = FileSink(output, true)}, {.reverse = 4});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(ReadFile(output), bytes);
  EXPECT_EQ(watermarks_.durable, 6u);
  EXPECT_FALSE(needs_order_);
}

TEST_P(PlaybackTest, RealCapturesComeBackIdentical) {
  TAPEDECK_SHARED_OR_SKIP(adsb, "adsb_modes_cu8_2Msps.bin");
  TAPEDECK_SHARED_OR_SKIP(logo, "sigmf_logo.sigmf-data");
  const std::string output = ScratchPath("out");
  ASSERT_TRUE(
      RecordAndPlay({.datatype = "cu8", .source = FileSource(adsb)}, {.sink = FileSink(output)})
          .ok());
  EXPECT_EQ(ReadFile(output), ReadFile(adsb));
  ASSERT_TRUE(RecordAndPlay({.datatype = "ri16_le", .source = FileSource(logo)},
                            {.sink = FileSink(output, true)})
                  .ok());
  EXPECT_EQ(ReadFile(output), ReadFile(logo));
}

TEST_P(PlaybackTest, NullDropsEverything) {
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .blocks = 40}, {.sink = Null()}, {.reverse = 3});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(watermarks_.written, 40u);
}

TEST_P(PlaybackTest, VerifyFindsOneWrongBit) {
  const auto flip = [](Block& block) {
    if (block.header().sequence == 7) block.payload()[1234] ^= std::byte{1};
    SetCrc(block);
    return true;
  };
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .blocks = 10}, {.sink = Verify()}, {.look = flip});
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  ASSERT_TRUE(services::ReasonOf(status).has_value());
  EXPECT_EQ(services::ReasonOf(status)->reason, "CONTENT_MISMATCH");
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("block"), "7");
  EXPECT_THAT(std::string(status.message()), HasSubstr("block 7, sample 154"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("verify: 1 block(s) differ"));
}

// Threads compare parts of a block; what they find is told in its order.
TEST_P(PlaybackTest, VerifyNamesTheFirstOfManyWrongSamples) {
  const auto flip = [](Block& block) {
    if (block.header().sequence < 2) return true;
    for (size_t sample = 12345; sample < (1 << 17); sample += 1000) {
      block.payload()[8 * sample + 7] ^= std::byte{1};
    }
    SetCrc(block);
    return true;
  };
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .blocks = 4, .slots = 4, .block_bytes = 1 << 20},
                    {.sink = Verify()}, {.look = flip});
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("block"), "2");
  EXPECT_THAT(std::string(status.message()), HasSubstr("block 2, sample 12345: ("));
  EXPECT_THAT(std::string(status.message()), HasSubstr("verify: 2 block(s) differ"));
}

TEST_P(PlaybackTest, VerifyFindsAWrongTransform) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  for (const size_t sample :
       {size_t{250}, kTestBlockBytes / 8 - 1}) {  // the first and the last part
    const auto damage = [&](Block& block) {
      auto* samples = reinterpret_cast<float*>(block.payload().data());
      if (block.header().sequence == 2) samples[2 * sample] += 1;
      SetCrc(block);
      return true;
    };
    const absl::Status status = RecordAndPlay({.source = Synth(), .fft = 512, .blocks = 4},
                                              {.sink = Verify()}, {.look = damage});
    ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
    EXPECT_EQ(services::ReasonOf(status)->reason, "CONTENT_MISMATCH");
    EXPECT_EQ(services::ReasonOf(status)->metadata.at("block"), "2");
  }
}

TEST_P(PlaybackTest, VerifyCountsWhatIsMissing) {
  const auto drop = [](Block& block) {
    const uint64_t sequence = block.header().sequence;
    if (sequence == 5) block.header().flags |= dataplane::kBlockMissing;
    return sequence != 3 && sequence != 9;
  };
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .blocks = 10}, {.sink = Verify()}, {.look = drop});
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "BLOCK_DAMAGED");
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("blocks"), "3");
  EXPECT_THAT(std::string(status.message()), HasSubstr("3 block(s) are missing, 0 differ"));
}

TEST_P(PlaybackTest, VerifyFindsDisorder) {
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .blocks = 4}, {.sink = Verify()}, {.reverse = 2});
  EXPECT_THAT(std::string(status.message()), HasSubstr("2 block(s) are missing, 2 differ"));
}

TEST_P(PlaybackTest, AFullDiskIsAnErrorThatNamesTheFile) {
  const std::string output = ScratchPath("out");
  const auto ignore = signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const rlimit full = {.rlim_cur = 3 * kTestBlockBytes, .rlim_max = unlimited.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .blocks = 100}, {.sink = FileSink(output)});
  setrlimit(RLIMIT_FSIZE, &unlimited);
  signal(SIGXFSZ, ignore);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("pwrite " + output));
}

TEST_P(PlaybackTest, ACutStreamLeavesNoFile) {
  auto recording = Record(choice_, {.source = Synth(), .blocks = 3}, clock_);
  const std::string output = ScratchPath("out");
  auto playback = Play(choice_, {.sink = FileSink(output), .blocks = 9});
  ASSERT_TRUE(playback.ok()) << playback.status();
  Signal from_source, from_sink;
  recording->source->SetWaker(from_source.waker());
  playback->sink->SetWaker(from_sink.waker());
  for (size_t i = 0; i < 3; ++i) {
    Block block;
    while (recording->source->Pull(&block).value() == Flow::kNotNow) {
      ASSERT_TRUE(from_source.Wait());
    }
    ASSERT_EQ(playback->sink->Push(&block).value(), Flow::kMoved);
    EXPECT_TRUE(block.empty());
  }
  const absl::Status cause = absl::UnavailableError("the peer went away");
  while (playback->sink->Finish(cause).value() == Flow::kNotNow) ASSERT_TRUE(from_sink.Wait());
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_P(PlaybackTest, DestroyingAPipelineInFullSwingReturnsEverySlot) {
  auto ring =
      pipeline::MakeRing(device(), dataplane::ladder::Rung::kBounce, 1, 8, kTestBlockBytes).value();
  auto playback = Play(choice_, {.sink = FileSink(ScratchPath("out"))});
  ASSERT_TRUE(playback.ok()) << playback.status();
  for (uint64_t i = 0; i < 8; ++i) {
    std::optional<Block> block = ring->Take();
    block->header() = {.sequence = i, .payload_bytes = kTestBlockBytes};
    ASSERT_TRUE(playback->sink->Push(&*block).ok());
  }
  playback->sink.reset();
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(ring->Take().has_value()) << i;
}

using services::model::Origin;
using Transforms = std::vector<services::model::OriginStage>;

// A synth recording with these transforms, and with some parameters of its source others.
Origin Made(Transforms transforms, stages::TextParameters others = {}) {
  others.merge(stages::synth::Describe({}).parameters);
  return {.source = {.name = "synth", .parameters = std::move(others)},
          .transforms = std::move(transforms)};
}

TEST_P(PlaybackTest, WrongRequestsSayWhatIsWrong) {
  const struct {
    TestPlayback test;
    const char* reason;
  } rows[] = {
      {{.datatype = "cu8", .sink = Null(), .fft = 64}, "ARGUMENT_INVALID"},
      {{.sink = Null(), .fft = 63}, "ARGUMENT_INVALID"},
      {{.sink = FileSink("/nowhere/at/all")}, "FILE_NOT_FOUND"},
      {{.sink = FileSink("/dev/null")}, "FILE_INVALID"},
      {{.sink = Verify(), .origin = {.source = {.name = "synth"}}}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .origin = Made({}, {{"tones", "0.1,x"}})}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .origin = Made({{"fft", {}}})}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .origin = Made({{"fft", {{"points", "3"}}}})}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .origin = Made({{"fft", {{"points", "65536"}}}})}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .origin = Made({{"fft", {{"points", "64"}, {"what", "1"}}}})},
       "ARGUMENT_INVALID"},
      {{.sink = Verify(), .origin = Made({{"power", {{"average", "2"}}}})}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .origin = Made({{"power", {{"average", "65536"}, {"points", "4"}}}})},
       "ARGUMENT_INVALID"},
      {{.sink = Verify(),
        .origin = Made({{"power", {{"average", "2"}, {"points", "4"}}},
                        {"power", {{"average", "2"}, {"points", "4"}}}})},
       "ARGUMENT_INVALID"},
      {{.sink = Verify(), .origin = Made(Transforms(99, {"fft", {{"points", "16"}}}))},
       "ARGUMENT_INVALID"},
  };
  for (const auto& row : rows) {
    const absl::Status status = Play(choice_, row.test).status();
    ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
    EXPECT_EQ(services::ReasonOf(status)->reason, row.reason) << status;
  }
}

TEST_P(PlaybackTest, UnknownContentIsNotedAndOnlyCounted) {
  auto playback = Play(choice_, {.sink = Verify(), .origin = {.source = {.name = "file"}}});
  ASSERT_TRUE(playback.ok()) << playback.status();
  EXPECT_THAT(
      playback->notes,
      testing::ElementsAre(services::Noted("CONTENT_NOT_COMPARED|cause=SOURCE|source=file")));
}

TEST_P(PlaybackTest, AnUnknownTransformIsNotedAndContentOnlyCounted) {
  auto playback = Play(choice_, {.sink = Verify(), .origin = Made({{"blur", {}}})});
  ASSERT_TRUE(playback.ok()) << playback.status();
  EXPECT_THAT(
      playback->notes,
      testing::ElementsAre(services::Noted("CONTENT_NOT_COMPARED|cause=TRANSFORM|transform=blur")));
}

TAPEDECK_ON_EVERY_DEVICE(PlaybackTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
