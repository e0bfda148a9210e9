#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "dataplane/crc32c.h"
#include "gpu_worker/pipeline/playback_pipeline.h"
#include "gpu_worker/stages/synth/parameters.h"
#include "services/errors.h"
#include "tests/gpu_worker/devices.h"
#include "tests/gpu_worker/files.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"
#include "tests/shared_data.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Block;
using dataplane::Flow;
using testing::HasSubstr;

// Records and plays back with no network between.
class PlaybackTest : public DeviceTest {
 protected:
  absl::Status RecordAndPlay(const TestRecording& record, TestPlayback play,
                             const PumpOptions& options = {}) {
    auto recording = Record(choice_, record, clock_);
    if (!recording.ok()) return recording.status();
    play.labels = recording->labels;
    play.blocks = recording->expected_blocks;
    play.datatype = record.datatype;
    play.block_bytes = record.block_bytes;
    auto playback = Play(choice_, play);
    if (!playback.ok()) return playback.status();
    needs_order_ = playback->needs_order;
    const absl::Status status = Pump(*recording->source, *playback->sink, options);
    watermarks_ = playback->sink->watermarks();
    return status;
  }

  bool HasFft() {
    return Record(choice_, {.source = Synth(), .fft = 16, .blocks = 1}, clock_).ok();
  }

  const dataplane::SystemClock clock_{};
  bool needs_order_ = false;
  dataplane::Watermarks watermarks_;
};

TEST_P(PlaybackTest, SynthVerifies) {
  const absl::Status status = RecordAndPlay({.source = Synth(3), .blocks = 50}, {.sink = Verify()});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(watermarks_.durable, 50u);
  EXPECT_TRUE(needs_order_);
}

TEST_P(PlaybackTest, FftVerifiesWhereverItIsApplied) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  for (const auto& [recorded, played] : {std::pair(1024, 0), {0, 64}, {8192, 16}}) {
    const absl::Status status =
        RecordAndPlay({.source = Synth(), .fft = static_cast<uint32_t>(recorded), .blocks = 20},
                      {.sink = Verify(), .fft = static_cast<uint32_t>(played)});
    EXPECT_TRUE(status.ok()) << recorded << "/" << played << ": " << status;
    EXPECT_EQ(watermarks_.durable, 20u);
  }
}

TEST_P(PlaybackTest, TransformsAreAppliedInTheirOrder) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .fft = 64, .blocks = 4},
                    {.sink = Verify(), .fft = 16, .transforms = {Fft(256)}});
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(PlaybackTest, FftsOfAnyLengthVerify) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .fft = 1000, .blocks = 2, .block_bytes = 1'536'000},
                    {.sink = Verify(), .fft = 1536});
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(PlaybackTest, AWindowedFftVerifiesAgainstItsLabelAlone) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  for (const char* window : {"hann", "hamming", "blackman", "flattop"}) {
    const TestRecording test{.source = Synth(), .transforms = {Fft(1024, window)}, .blocks = 2};
    const absl::Status recorded = RecordAndPlay(test, {.sink = Verify()});
    EXPECT_TRUE(recorded.ok()) << window << ": " << recorded;
    const absl::Status played = RecordAndPlay({.source = Synth(), .blocks = 2},
                                              {.sink = Verify(), .transforms = {Fft(64, window)}});
    EXPECT_TRUE(played.ok()) << window << ": " << played;
    auto recording = Record(choice_, test, clock_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    recording->labels.erase("fft_window");
    auto playback = Play(choice_, {.sink = Verify(), .labels = recording->labels, .blocks = 2});
    ASSERT_TRUE(playback.ok()) << playback.status();
    EXPECT_EQ(Pump(*recording->source, *playback->sink).code(), absl::StatusCode::kDataLoss);
  }
}

TEST_P(PlaybackTest, ALastBlockIsFilledUpForEachTransform) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  const std::string input = ScratchPath("in");
  const std::string output = ScratchPath("out");
  WriteFile(input, std::string(20 * 8, '\0'));
  const absl::Status status =
      RecordAndPlay({.source = FileSource(input), .block_bytes = 12288},
                    {.sink = FileSink(output), .fft = 24, .transforms = {Fft(16)}});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(ReadFile(output).size(), 48 * 8u);
}

TEST_P(PlaybackTest, PowerMakesSmallerBlocksForTheSink) {
  std::vector<float> samples(2 * (2 * 8192 + 32), 3.0f);  // of two blocks and 32 samples
  const std::string input = ScratchPath("in");
  const std::string output = ScratchPath("out");
  WriteFile(input, {reinterpret_cast<const char*>(samples.data()), samples.size() * 4});
  const absl::Status status =
      RecordAndPlay({.source = FileSource(input)},
                    {.sink = FileSink(output), .transforms = {Power(4, 2)}}, {.reverse = 2});
  ASSERT_TRUE(status.ok()) << status;
  const std::string bytes = ReadFile(output);
  ASSERT_EQ(bytes.size(), (8192 + 16) * sizeof(float));
  const auto* got = reinterpret_cast<const float*>(bytes.data());
  for (size_t i = 0; i < 8192 + 16; ++i) ASSERT_EQ(got[i], 18.0f) << i;
}

TEST_P(PlaybackTest, ConversionsThereAndBackAreIdentical) {
  std::string bytes(3 * kTestBlockBytes + 22, 'x');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 3);
  const std::string input = ScratchPath("in");
  const std::string output = ScratchPath("out");
  WriteFile(input, bytes);
  // Through blocks that are larger, as large and smaller, and through three sizes between.
  const std::vector<std::pair<std::vector<services::StageSpec>, std::string>> rows = {
      {{Convert("ci8", "cf64_be")}, "cf64_be"},
      {{Convert("ci8", "cu8")}, "cu8"},
      {{Convert("ci8", "cf32_le"), Convert("cf32_le", "ci16_be"), Convert("ci16_be", "cf64_le"),
        Convert("cf64_le", "ci32_le")},
       "ci32_le"},
  };
  for (const auto& [transforms, datatype] : rows) {
    const absl::Status status =
        RecordAndPlay({.datatype = datatype, .source = FileSource(input), .transforms = transforms},
                      {.sink = FileSink(output, true), .transforms = {Convert(datatype, "ci8")}});
    ASSERT_TRUE(status.ok()) << datatype << ": " << status;
    EXPECT_TRUE(ReadFile(output) == bytes) << datatype;
  }
}

TEST_P(PlaybackTest, WhatDoesNotFitIsRefusedByName) {
  const struct {
    TestPlayback test;
    const char* text;
  } rows[] = {
      {{.sink = Null(), .transforms = {Power(4, 2), Fft(4)}},
       "power gives rf32_le, fft takes cf32_le"},
      {{.datatype = "ci16_le", .sink = Null(), .transforms = {Power(4, 2)}},
       "the recording gives ci16_le, power takes cf32_le"},
      {{.sink = Null(), .transforms = {Power(1, 3)}}, "does not become whole samples"},
  };
  for (const auto& row : rows) {
    const absl::Status status = Play(choice_, row.test).status();
    ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
    EXPECT_EQ(services::ReasonOf(status)->reason, "ARGUMENT_INVALID") << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.text));
  }
}

TEST_P(PlaybackTest, PowerIsNotComparedAndANoteSaysSo) {
  auto recording =
      Record(choice_,
             {.datatype = "rf32_le", .source = Synth(), .transforms = {Power(64, 4)}, .blocks = 2},
             clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  auto playback = Play(
      choice_, {.datatype = "rf32_le", .sink = Verify(), .labels = recording->labels, .blocks = 2});
  ASSERT_TRUE(playback.ok()) << playback.status();
  ASSERT_EQ(playback->notes.size(), 1u);
  EXPECT_THAT(playback->notes[0], HasSubstr("not compared: the transform power"));
  EXPECT_TRUE(Pump(*recording->source, *playback->sink).ok());
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
  TAPEDECK_SHARED_OR_SKIP(logo, "sigmf_logo.sigmf-meta");
  const std::string output = ScratchPath("out");
  ASSERT_TRUE(
      RecordAndPlay({.datatype = "cu8", .source = FileSource(adsb)}, {.sink = FileSink(output)})
          .ok());
  EXPECT_EQ(ReadFile(output), ReadFile(adsb));
  ASSERT_TRUE(RecordAndPlay({.datatype = "ri16_le", .source = FileSource(logo)},
                            {.sink = FileSink(output, true)})
                  .ok());
  EXPECT_EQ(ReadFile(output), ReadFile(SharedData("sigmf_logo.sigmf-data")));
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

TEST_P(PlaybackTest, VerifyFindsAWrongTransform) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  const auto damage = [](Block& block) {
    auto* samples = reinterpret_cast<float*>(block.payload().data());
    if (block.header().sequence == 2) samples[500] += 1;
    return true;
  };
  const absl::Status status = RecordAndPlay({.source = Synth(), .fft = 512, .blocks = 4},
                                            {.sink = Verify()}, {.look = damage});
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "CONTENT_MISMATCH");
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

// Labels of a synth recording, some of them others.
std::map<std::string, std::string> Made(std::map<std::string, std::string> others) {
  others.merge(stages::synth::Describe({}).labels);
  return others;
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
      {{.sink = Verify(), .labels = {{"source", "synth"}}}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .labels = Made({{"tones", "0.1,x"}})}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .labels = Made({{"transforms", "fft"}})}, "ARGUMENT_INVALID"},
      {{.sink = Verify(), .labels = Made({{"transforms", "fft"}, {"fft", "3"}})},
       "ARGUMENT_INVALID"},
      {{.sink = Verify(), .labels = Made({{"transforms", "fft"}, {"fft", "65536"}})},
       "ARGUMENT_INVALID"},
      {{.sink = Verify(), .labels = Made({{"transforms", std::string(99, ',')}})},
       "ARGUMENT_INVALID"},
  };
  for (const auto& row : rows) {
    const absl::Status status = Play(choice_, row.test).status();
    ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
    EXPECT_EQ(services::ReasonOf(status)->reason, row.reason) << status;
  }
}

TEST_P(PlaybackTest, UnknownContentIsNotedAndOnlyCounted) {
  auto playback = Play(choice_, {.sink = Verify(), .labels = {{"source", "file"}}});
  ASSERT_TRUE(playback.ok()) << playback.status();
  ASSERT_EQ(playback->notes.size(), 1u);
  EXPECT_THAT(playback->notes[0], HasSubstr("not compared: its source, file,"));
}

TEST_P(PlaybackTest, AnUnknownTransformIsNotedAndContentOnlyCounted) {
  auto playback = Play(choice_, {.sink = Verify(), .labels = Made({{"transforms", "blur"}})});
  ASSERT_TRUE(playback.ok()) << playback.status();
  ASSERT_EQ(playback->notes.size(), 1u);
  EXPECT_THAT(playback->notes[0], HasSubstr("not compared: the transform blur"));
}

TAPEDECK_ON_EVERY_DEVICE(PlaybackTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
