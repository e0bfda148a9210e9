// Pipelines with transforms, at either end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "gpu_worker/pipeline/playback_pipeline.h"
#include "gpu_worker/pipeline/record_pipeline.h"
#include "gpu_worker/stages/synth/source.h"
#include "services/base/errors.h"
#include "services/signal/samples/reference_fft.h"
#include "tests/gpu_worker/pipeline_test.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class TransformsTest : public PipelineTest {};

TEST_P(TransformsTest, FftVerifiesWhereverItIsApplied) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  for (const auto& [recorded, played] : {std::pair(1024, 0), {0, 64}, {8192, 16}}) {
    const absl::Status status =
        RecordAndPlay({.source = Synth(), .fft = static_cast<uint32_t>(recorded), .blocks = 20},
                      {.sink = Verify(), .fft = static_cast<uint32_t>(played)});
    EXPECT_TRUE(status.ok()) << recorded << "/" << played << ": " << status;
    EXPECT_EQ(watermarks_.durable, 20u);
  }
}

TEST_P(TransformsTest, TransformsAreAppliedInTheirOrder) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .fft = 64, .blocks = 4},
                    {.sink = Verify(), .fft = 16, .transforms = {Fft(256)}});
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(TransformsTest, FftsOfAnyLengthVerify) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  const absl::Status status =
      RecordAndPlay({.source = Synth(), .fft = 1000, .blocks = 2, .block_bytes = 1'536'000},
                    {.sink = Verify(), .fft = 1536});
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(TransformsTest, AWindowedFftVerifiesAgainstItsOriginAlone) {
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
    recording->origin.transforms.at(0).parameters.erase("window");
    auto playback = Play(choice_, {.sink = Verify(), .origin = recording->origin, .blocks = 2});
    ASSERT_TRUE(playback.ok()) << playback.status();
    EXPECT_EQ(Pump(*recording->source, *playback->sink).code(), absl::StatusCode::kDataLoss);
  }
}

TEST_P(TransformsTest, ALastBlockIsFilledUpForEachTransform) {
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

TEST_P(TransformsTest, PowerMakesSmallerBlocksForTheSink) {
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

TEST_P(TransformsTest, ConversionsThereAndBackAreIdentical) {
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

TEST_P(TransformsTest, WhatDoesNotFitIsRefusedByName) {
  const struct {
    TestPlayback test;
    const char* text;
  } rows[] = {
      {{.sink = Null(), .transforms = {Power(4, 2), Fft(4)}},
       "power gives rf32_le, fft takes cf32_le"},
      {{.datatype = "ci16_le", .sink = Null(), .transforms = {Power(4, 2)}},
       "the recording gives ci16_le, power takes cf32_le"},
      {{.sink = Null(), .transforms = {Power(1, 3)}}, "does not hold whole samples"},
  };
  for (const auto& row : rows) {
    const absl::Status status = Play(choice_, row.test).status();
    ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
    EXPECT_EQ(services::ReasonOf(status)->reason, "ARGUMENT_INVALID") << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.text));
  }
}

TEST_P(TransformsTest, PowerVerifiesWhereverItIsApplied) {
  if (!HasFft()) GTEST_SKIP() << "no FFT on this device or in this build";
  const std::vector<services::StageSpec> spectra{Fft(64, "hann"), Power(64, 4)};
  const absl::Status recorded =
      RecordAndPlay({.datatype = "rf32_le", .source = Synth(5), .transforms = spectra, .blocks = 3},
                    {.sink = Verify()});
  EXPECT_TRUE(recorded.ok()) << recorded;
  const absl::Status played = RecordAndPlay({.source = Synth(5), .fft = 64, .blocks = 3},
                                            {.sink = Verify(), .transforms = {Power(64, 2)}});
  EXPECT_TRUE(played.ok()) << played;
  const absl::Status alone = RecordAndPlay({.source = Synth(5), .blocks = 3},
                                           {.sink = Verify(), .transforms = {Power(1, 8)}});
  EXPECT_TRUE(alone.ok()) << alone;
}

TEST_P(TransformsTest, ThereIsNoPaceWhereTheNumberOfSamplesChanges) {
  const services::PlaybackSpec spec{.transfer = {.transforms = {Power(1, 2)}}, .sink = Null()};
  const absl::Status status =
      pipeline::CreatePlayback({.stages = pipeline::ChooseStages(spec).value(),
                                .channel = {.datatype = "cf32_le", .block_bytes = kTestBlockBytes},
                                .device = &choice_,
                                .pace = pace::Plan{.samples_per_s = 1e6}})
          .status();
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(status.message()), HasSubstr("changes the number of samples"));
}

TEST_P(TransformsTest, VerifyFindsWrongPower) {
  const auto damage = [](dataplane::Block& block) {
    auto* bins = reinterpret_cast<float*>(block.payload().data());
    if (block.header().sequence == 1) bins[500] += 0.1f;
    SetCrc(block);
    return true;
  };
  const absl::Status status = RecordAndPlay(
      {.datatype = "rf32_le", .source = Synth(), .transforms = {Power(64, 4)}, .blocks = 3},
      {.sink = Verify()}, {.look = damage});
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "CONTENT_MISMATCH");
  EXPECT_EQ(services::ReasonOf(status)->metadata.at("block"), "1");
}

TEST_P(TransformsTest, AConversionIsNotComparedAndANoteSaysSo) {
  auto recording = Record(choice_,
                          {.datatype = "ci16_le",
                           .source = Synth(),
                           .transforms = {Convert("cf32_le", "ci16_le")},
                           .blocks = 2},
                          clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  auto playback = Play(
      choice_, {.datatype = "ci16_le", .sink = Verify(), .origin = recording->origin, .blocks = 2});
  ASSERT_TRUE(playback.ok()) << playback.status();
  EXPECT_THAT(playback->notes, testing::ElementsAre(services::Noted(
                                   "CONTENT_NOT_COMPARED|cause=TRANSFORM|transform=convert")));
  EXPECT_TRUE(Pump(*recording->source, *playback->sink).ok());
}

TEST_P(TransformsTest, FftConvertsAndFillsUpTheLastTransform) {
  constexpr uint32_t kPoints = 256;
  const std::string bytes = Counting(2 * 8192 + 2 * 700);  // one block and 2.7 transforms
  const std::string meta = ScratchPath("converted.sigmf-meta");
  WriteFile(meta, R"({"global": {"core:datatype": "cu8"}})");
  WriteFile(ScratchPath("converted.sigmf-data"), bytes);
  const auto blocks = RecordAll({.source = FileSource(meta), .fft = kPoints});
  if (blocks.status().code() == absl::StatusCode::kFailedPrecondition) {
    GTEST_SKIP() << blocks.status().message();
  }
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(2));
  EXPECT_EQ((*blocks)[1].header.payload_bytes, 3 * kPoints * 8);
  EXPECT_EQ((*blocks)[1].header.flags, dataplane::kBlockPartial);
  EXPECT_EQ(origin_.datatype, "cf32_le");
  ASSERT_EQ(origin_.transforms.size(), 1u);
  EXPECT_EQ(origin_.transforms[0].name, "fft");
  EXPECT_EQ(origin_.transforms[0].parameters["points"], "256");
  EXPECT_EQ(origin_.source.parameters["datatype"], "cu8");
  const std::string all = Joined(*blocks);
  const auto* got = reinterpret_cast<const float*>(all.data());
  const services::samples::ReferenceFft reference(kPoints);
  services::samples::Workspace workspace;
  for (size_t start = 0; start < all.size() / 8; start += kPoints) {
    std::vector<double> real(kPoints), imaginary(kPoints);
    for (size_t i = 0; i < kPoints && 2 * (start + i) < bytes.size(); ++i) {
      real[i] = (static_cast<uint8_t>(bytes[2 * (start + i)]) - 128) / 128.0;
      imaginary[i] = (static_cast<uint8_t>(bytes[2 * (start + i) + 1]) - 128) / 128.0;
    }
    reference.Forward(real, imaginary, workspace);
    for (size_t i = 0; i < kPoints; ++i) {
      ASSERT_NEAR(got[2 * (start + i)], real[i], 1e-4) << start + i;
      ASSERT_NEAR(got[2 * (start + i) + 1], imaginary[i], 1e-4) << start + i;
    }
  }
}

TEST_P(TransformsTest, PowerFillsWholeBlocksFromLargerOnes) {
  constexpr uint32_t kPoints = 64, kAverage = 5;
  const auto blocks = RecordAll({.datatype = "rf32_le",
                                 .source = Synth(3),
                                 .fft = kPoints,
                                 .transforms = {Power(kPoints, kAverage)},
                                 .blocks = 3});
  if (blocks.status().code() == absl::StatusCode::kFailedPrecondition) {
    GTEST_SKIP() << blocks.status().message();
  }
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(3));
  EXPECT_EQ(origin_.datatype, "rf32_le");
  ASSERT_EQ(origin_.transforms.size(), 2u);
  EXPECT_EQ(origin_.transforms[0].name, "fft");
  EXPECT_EQ(origin_.transforms[1].name, "power");
  EXPECT_EQ(origin_.transforms[1].parameters["average"], "5");
  EXPECT_EQ(origin_.transforms[1].parameters["points"], "64");
  const size_t bins = kTestBlockBytes / 4;
  std::vector<stages::synth::Complex> made(bins * kAverage);
  const stages::synth::Generator generator(stages::synth::WaveformOf({.seed = 3}));
  const services::samples::ReferenceFft reference(kPoints);
  services::samples::Workspace workspace;
  for (size_t i = 0; i < blocks->size(); ++i) {
    EXPECT_EQ((*blocks)[i].header.sample_index, i * bins);
    EXPECT_EQ((*blocks)[i].header.payload_bytes, kTestBlockBytes);
    EXPECT_EQ((*blocks)[i].header.flags, 0u);
    const auto* got = reinterpret_cast<const float*>((*blocks)[i].payload.data());
    generator.Make(i * made.size(), made);
    std::vector<double> wanted(bins), real(kPoints), imaginary(kPoints);
    for (size_t n = 0; n < made.size(); n += kPoints) {
      for (size_t k = 0; k < kPoints; ++k) real[k] = made[n + k].re, imaginary[k] = made[n + k].im;
      reference.Forward(real, imaginary, workspace);
      for (size_t k = 0; k < kPoints; ++k) {
        wanted[n / (kPoints * kAverage) * kPoints + k] +=
            (real[k] * real[k] + imaginary[k] * imaginary[k]) / kAverage;
      }
    }
    for (size_t k = 0; k < bins; ++k) ASSERT_NEAR(got[k], wanted[k], 2e-6 * kPoints * kPoints) << k;
  }
}

TEST_P(TransformsTest, AFilesLastAverageIsFilledUpWithZeros) {
  std::vector<float> samples(2 * (8 * 2048 + 3), 2.0f);  // of two blocks and 3 samples
  const std::string path =
      FileOf({reinterpret_cast<const char*>(samples.data()), samples.size() * sizeof(float)});
  const std::string meta = ScratchPath("cf.sigmf-meta");
  WriteFile(meta, R"({"global": {"core:datatype": "cf32_le"}})");
  std::filesystem::copy_file(path, ScratchPath("cf.sigmf-data"));
  const auto blocks = RecordAll({.datatype = "rf32_le",
                                 .source = FileSource(meta),
                                 .transforms = {Power(1, 8)},
                                 .block_bytes = 4096});
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  ASSERT_THAT(*blocks, SizeIs(3));
  EXPECT_EQ(expected_blocks_, 3u);
  EXPECT_EQ((*blocks)[2].header.flags, dataplane::kBlockPartial);
  const std::string all = Joined(*blocks);
  ASSERT_EQ(all.size(), (2048 + 1) * sizeof(float));
  const auto* got = reinterpret_cast<const float*>(all.data());
  for (size_t i = 0; i < 2048; ++i) ASSERT_EQ(got[i], 8.0f) << i;
  EXPECT_EQ(got[2048], 3.0f);
}

TAPEDECK_ON_EVERY_DEVICE(TransformsTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
