// Where a burst in a band triggers, on each device and through a pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include "gpu_worker/stages/detect/transform.h"
#include "tests/gpu_worker/pipeline_test.h"

namespace tapedeck::gpu_worker {
namespace {

using stages::detect::Alarm;
using stages::detect::BandOf;
using stages::detect::Parameters;
using testing::ElementsAre;

TEST(Alarm, TriggersWhereTheThresholdIsReached) {
  Alarm alarm({.threshold = -10, .hysteresis = 3});
  EXPECT_FALSE(alarm.Look(0.099f, 0));
  EXPECT_TRUE(alarm.Look(0.101f, 10));
  EXPECT_FALSE(alarm.Look(5, 20));
}

TEST(Alarm, TriggersAgainOnceItFellByTheHysteresis) {
  Alarm alarm({.threshold = 0, .hysteresis = 3});
  EXPECT_TRUE(alarm.Look(1, 0));
  EXPECT_FALSE(alarm.Look(0.51f, 1));
  EXPECT_FALSE(alarm.Look(1, 2));
  EXPECT_FALSE(alarm.Look(0.49f, 3));
  EXPECT_TRUE(alarm.Look(1, 4));
}

TEST(Alarm, KeepsQuietForTheHoldOff) {
  Alarm alarm({.threshold = 0, .hysteresis = 0, .hold_off = 100});
  EXPECT_TRUE(alarm.Look(2, 50));
  EXPECT_FALSE(alarm.Look(0, 60));
  EXPECT_FALSE(alarm.Look(2, 149));
  EXPECT_FALSE(alarm.Look(2, 150));  // the same one as before
  EXPECT_FALSE(alarm.Look(0, 151));
  EXPECT_TRUE(alarm.Look(2, 152));
}

TEST(Alarm, WhatIsNoNumberChangesNothing) {
  Alarm alarm({.threshold = 0, .hysteresis = 0});
  EXPECT_FALSE(alarm.Look(NAN, 0));
  EXPECT_TRUE(alarm.Look(INFINITY, 1));
  EXPECT_FALSE(alarm.Look(NAN, 2));
  EXPECT_FALSE(alarm.Look(1, 3));
}

TEST(Band, HasTheNearestBins) {
  const auto whole = BandOf({.points = 8, .window = "none"});
  EXPECT_EQ(whole.first, 4u);
  EXPECT_EQ(whole.bins, 8u);
  EXPECT_DOUBLE_EQ(whole.scale, 1.0 / 64);
  const auto one = BandOf({.points = 8, .low = 0.26, .high = 0.26});
  EXPECT_EQ(one.first, 2u);
  EXPECT_EQ(one.bins, 1u);
  const auto around = BandOf({.points = 7, .low = -0.15, .high = 0.15});
  EXPECT_EQ(around.first, 6u);
  EXPECT_EQ(around.bins, 3u);
  EXPECT_EQ(around.Bin(0), 6u);
  EXPECT_EQ(around.Bin(2), 1u);
}

constexpr size_t kBlockSamples = kTestBlockBytes / 8;

class DetectTest : public PipelineTest {
 protected:
  static services::StageSpec Detect(services::StageParameters parameters) {
    return {"detect", std::move(parameters)};
  }

  // Noise of that deviation, and tones of amplitude 1 from each begin to its end.
  struct Burst {
    size_t begin;
    size_t end;
    double frequency;
  };
  static std::string SignalOf(size_t samples, double noise, const std::vector<Burst>& bursts) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal(0, noise / std::numbers::sqrt2);
    std::vector<float> parts(2 * samples);
    for (float& part : parts) part = static_cast<float>(normal(random));
    for (const Burst& burst : bursts) {
      for (size_t i = burst.begin; i < burst.end; ++i) {
        const double angle = 2 * std::numbers::pi * burst.frequency * static_cast<double>(i);
        parts[2 * i] += static_cast<float>(std::cos(angle));
        parts[2 * i + 1] += static_cast<float>(std::sin(angle));
      }
    }
    std::string bytes(parts.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), parts.data(), bytes.size());
    return bytes;
  }

  // The first and last sample of each block that trigger; the samples stay as they were.
  std::vector<uint64_t> TriggersOf(const std::string& signal,
                                   std::vector<services::StageSpec> transforms) {
    auto blocks = RecordAll(
        {.source = FileSource(FileOf(signal)), .transforms = std::move(transforms), .slots = 64});
    EXPECT_TRUE(blocks.ok()) << blocks.status();
    if (!blocks.ok()) return {};
    EXPECT_TRUE(Joined(*blocks) == signal);
    std::vector<uint64_t> samples;
    for (const Pulled& block : *blocks) {
      const auto& header = block.header;
      if ((header.flags & dataplane::kBlockTriggered) == 0) continue;
      samples.push_back(header.sample_index + header.triggers.first);
      if (header.triggers.last == header.triggers.first) continue;
      samples.push_back(header.sample_index + header.triggers.last);
    }
    return samples;
  }
};

TEST_P(DetectTest, EveryBurstTriggersWithinATransform) {
  if (!HasFft()) GTEST_SKIP() << "no FFT";
  constexpr uint64_t kPoints = 256;
  std::vector<Burst> bursts;
  for (size_t at = 1000; at + 5000 < 20 * kBlockSamples; at += 7919) {
    bursts.push_back({.begin = at, .end = at + 2000, .frequency = 0.125});
  }
  const auto found = TriggersOf(SignalOf(20 * kBlockSamples, 0.1, bursts),
                                {Detect({{"points", kPoints}, {"threshold", -10.0}})});
  ASSERT_EQ(found.size(), bursts.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_LE(std::abs(static_cast<double>(found[i]) - static_cast<double>(bursts[i].begin)),
              kPoints);
  }
}

TEST_P(DetectTest, OnlyWhatLiesInTheBandTriggers) {
  if (!HasFft()) GTEST_SKIP() << "no FFT";
  const auto signal = SignalOf(2 * kBlockSamples, 0.01,
                               {{.begin = 2048, .end = 4096, .frequency = 0.125},
                                {.begin = 8192, .end = 9216, .frequency = -0.25}});
  const auto detect = [](double low, double high) {
    return Detect({{"low", low}, {"high", high}, {"threshold", -6.0}});
  };
  EXPECT_THAT(TriggersOf(signal, {detect(0.1, 0.15)}), ElementsAre(2048));
  EXPECT_THAT(TriggersOf(signal, {detect(-0.3, -0.2)}), ElementsAre(8192));
  EXPECT_THAT(TriggersOf(signal, {detect(-0.5, 0.5)}), ElementsAre(2048, 8192));
  EXPECT_THAT(TriggersOf(signal, {detect(0.2, 0.4)}), ElementsAre());
}

// What is found is told in samples of what is recorded.
TEST_P(DetectTest, StandsBeforeTransformsThatMakeFewerSamples) {
  if (!HasFft()) GTEST_SKIP() << "no FFT";
  auto blocks = RecordAll(
      {.datatype = "rf32_le",
       .source = FileSource(FileOf(
           SignalOf(4 * kBlockSamples, 0.01, {{.begin = 30720, .end = 32768, .frequency = 0.25}}))),
       .transforms = {Detect({{"threshold", -6.0}}), Power(1, 4)},
       .blocks = 0});
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  std::vector<uint64_t> samples;
  for (const Pulled& block : *blocks) {
    if ((block.header.flags & dataplane::kBlockTriggered) == 0) continue;
    samples.push_back(block.header.sample_index + block.header.triggers.first);
  }
  EXPECT_THAT(samples, ElementsAre(30720 / 4));
}

TEST_P(DetectTest, NoiseTriggersNothing) {
  if (!HasFft()) GTEST_SKIP() << "no FFT";
  EXPECT_THAT(TriggersOf(SignalOf(64 * kBlockSamples, 0.3, {}), {Detect({{"threshold", -6.0}})}),
              ElementsAre());
}

TEST_P(DetectTest, IsRefusedWithWhatIsWrong) {
  const auto refused = [&](services::StageParameters parameters) {
    return std::string(
        RecordAll({.source = Synth(), .transforms = {Detect(parameters)}, .blocks = 1})
            .status()
            .message());
  };
  EXPECT_THAT(refused({}), testing::HasSubstr("threshold"));
  EXPECT_THAT(refused({{"threshold", -6.0}, {"low", 0.2}, {"high", 0.1}}),
              testing::HasSubstr("high"));
  EXPECT_THAT(refused({{"threshold", -6.0}, {"points", uint64_t{1000}}}),
              testing::HasSubstr("whole transforms"));
  const auto play = Play(choice_, {.sink = Null(), .transforms = {Detect({{"threshold", -6.0}})}});
  EXPECT_THAT(std::string(play.status().message()), testing::HasSubstr("playback"));
}

TEST_P(DetectTest, VerifyLooksThroughIt) {
  if (!HasFft()) GTEST_SKIP() << "no FFT";
  EXPECT_TRUE(RecordAndPlay({.source = Synth(),
                             .transforms = {Detect({{"threshold", 30.0}}), Fft(1024)},
                             .blocks = 8},
                            {.sink = Verify()})
                  .ok());
}

TAPEDECK_ON_EVERY_DEVICE(DetectTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
