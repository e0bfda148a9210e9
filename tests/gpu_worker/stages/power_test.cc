#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gpu_worker/stages/power/transform.h"
#include "tests/gpu_worker/device/devices.h"

namespace tapedeck::gpu_worker::stages::power {
namespace {

class PowerTest : public DeviceTest {
 protected:
  // Of re, im, re, im, ...
  std::vector<float> Apply(const Parameters& parameters, const std::vector<float>& samples) {
    const size_t in_bytes = samples.size() * sizeof(float);
    const size_t out_bytes = in_bytes / 2 / parameters.average;
    auto host = device().NewHostMemory(in_bytes).value();
    auto in = device().NewDeviceMemory(in_bytes).value();
    auto out = device().NewDeviceMemory(out_bytes).value();
    auto power = CreateTransform(parameters,
                                 {.device = &device(), .queue = &queue(), .block_bytes = in_bytes});
    EXPECT_TRUE(power.ok()) << power.status();
    if (!power.ok()) return {};
    std::byte* const on_host = host->window().bytes.data();
    std::memcpy(on_host, samples.data(), in_bytes);
    const std::span taken = in->window().bytes.first(in_bytes);
    const std::span given = out->window().bytes.first(out_bytes);
    EXPECT_TRUE(queue().CopyToDevice(taken.data(), on_host, in_bytes).ok());
    EXPECT_TRUE((*power)->Apply(taken, given).ok());
    EXPECT_TRUE(queue().CopyToHost(on_host, given.data(), out_bytes).ok());
    EXPECT_TRUE(Wait(queue()).ok());
    std::vector<float> bins(out_bytes / sizeof(float));
    std::memcpy(bins.data(), on_host, out_bytes);
    return bins;
  }
};

TEST_P(PowerTest, AveragesEachBinOverItsTransforms) {
  // Two averages of three transforms of two bins.
  const std::vector<float> samples = {1, 0, 0, 1, 2, 0, 3, 4, 3, 0, 0, 0,
                                      1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2};
  EXPECT_EQ(Apply({.points = 2, .average = 3}, samples),
            (std::vector<float>{14.0f / 3, 26.0f / 3, 2, 8}));
}

TEST_P(PowerTest, IsTheExactMeanRoundedOnce) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const auto& [points, average, averages] :
       {std::tuple(1u, 1u, 1000u), {1000u, 1u, 3u}, {7u, 300u, 5u}, {1024u, 16u, 4u}}) {
    std::vector<float> samples(size_t{2} * points * average * averages);
    for (float& part : samples) part = normal(random);
    const std::vector<float> bins = Apply({.points = points, .average = average}, samples);
    ASSERT_EQ(bins.size(), points * averages);
    for (size_t i = 0; i < bins.size(); ++i) {
      long double sum = 0;
      for (size_t t = 0; t < average; ++t) {
        const size_t sample = (i / points * average + t) * points + i % points;
        for (const float part : {samples[2 * sample], samples[2 * sample + 1]}) {
          sum += static_cast<long double>(part) * part;
        }
      }
      ASSERT_FLOAT_EQ(bins[i], static_cast<float>(sum / average)) << points << " " << i;
    }
  }
}

TEST_P(PowerTest, ParsevalsSumIsKept) {
  constexpr size_t kSamples = 4096;
  std::vector<float> samples(2 * kSamples);
  double energy = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] = std::sin(static_cast<float>(i));
    energy += static_cast<double>(samples[i]) * samples[i];
  }
  for (const uint32_t average : {1u, 2u, 64u, 4096u}) {
    double sum = 0;
    for (const float bin : Apply({.points = 1, .average = average}, samples)) sum += bin;
    EXPECT_NEAR(sum * average, energy, energy * 1e-6) << average;
  }
}

TEST_P(PowerTest, WhatIsNoNumberStaysInItsBin) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const auto bins =
      Apply({.points = 4, .average = 2}, {nan, 0, 1, 0, infinity, 0, 3, 0, 1, 0, 1, 0, 1, 0, 3, 0});
  EXPECT_TRUE(std::isnan(bins[0]));
  EXPECT_EQ(bins[1], 1.0f);
  EXPECT_EQ(bins[2], infinity);
  EXPECT_EQ(bins[3], 9.0f);
}

TAPEDECK_ON_EVERY_DEVICE(PowerTest);

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::power
