#include "services/signal/samples/window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "gpu_worker/stages/fft/fft.h"
#include "tests/gpu_worker/device/devices.h"

namespace tapedeck::gpu_worker::stages::fft {
namespace {

using services::samples::WindowNames;
using services::samples::WindowWeights;

// By hand from the definitions, at n = 0, 2 and 4 of 8 points, where the cosines are 1, 0 and -1.
TEST(WindowTest, HasTheWeightsOfItsDefinition) {
  const struct {
    const char* name;
    double first, quarter, middle, mean;
  } rows[] = {
      {"none", 1, 1, 1, 1},
      {"hann", 0, 0.5, 1, 0.5},
      {"hamming", 0.08, 0.54, 1, 0.54},
      {"blackman", 0, 0.34, 1, 0.42},
      {"flattop", -0.000421051, -0.05473684, 1.000000003, 0.21557895},
  };
  std::vector<std::string> names;
  for (const auto& row : rows) {
    SCOPED_TRACE(names.emplace_back(row.name));
    const std::vector<double> weights = WindowWeights(row.name, 8);
    ASSERT_EQ(weights.size(), 8u);
    EXPECT_NEAR(weights[0], row.first, 1e-12);
    EXPECT_NEAR(weights[2], row.quarter, 1e-12);
    EXPECT_NEAR(weights[4], row.middle, 1e-12);
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 8 * row.mean, 1e-12);
  }
  EXPECT_EQ(WindowNames(), names);
}

TEST(WindowTest, IsPeriodic) {
  for (const std::string& name : WindowNames()) {
    for (const uint32_t points : {6u, 7u, 1000u, 65536u}) {
      const std::vector<double> weights = WindowWeights(name, points);
      const std::vector<double> twice = WindowWeights(name, 2 * points);
      for (uint32_t n = 0; n < points; ++n) {
        ASSERT_NEAR(weights[n], weights[(points - n) % points], 1e-12) << name << " " << n;
        ASSERT_NEAR(weights[n], twice[2 * n], 1e-12) << name << " " << n;
      }
    }
  }
}

class FftWindowTest : public DeviceTest {};

TEST_P(FftWindowTest, EveryDeviceMultipliesEachTransformAlike) {
  constexpr size_t kPoints = 1000;
  constexpr size_t kTransforms = 5;
  std::vector<float> weights(kPoints);
  for (size_t n = 0; n < kPoints; ++n) weights[n] = std::sin(static_cast<float>(n));
  auto window = CreateFftWindow(weights, device(), queue());
  ASSERT_TRUE(window.ok()) << window.status();
  std::vector<float> samples(2 * kPoints * kTransforms);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = std::cos(static_cast<float>(i));
  const size_t bytes = samples.size() * sizeof(float);
  auto host = device().NewHostMemory(bytes).value();
  auto memory = device().NewDeviceMemory(bytes).value();
  std::byte* const on_host = host->window().bytes.data();
  std::byte* const on_device = memory->window().bytes.data();
  std::memcpy(on_host, samples.data(), bytes);
  ASSERT_TRUE(queue().CopyToDevice(on_device, on_host, bytes).ok());
  ASSERT_TRUE((*window)->Multiply(on_device, kTransforms - 1).ok());
  ASSERT_TRUE(queue().CopyToHost(on_host, on_device, bytes).ok());
  ASSERT_TRUE(Wait(queue()).ok());
  // The last is not asked for.
  const size_t weighed = 2 * kPoints * (kTransforms - 1);
  for (size_t i = 0; i < weighed; ++i) samples[i] *= weights[i / 2 % kPoints];
  EXPECT_EQ(std::memcmp(on_host, samples.data(), bytes), 0);
}

TAPEDECK_ON_EVERY_DEVICE(FftWindowTest);

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::fft
