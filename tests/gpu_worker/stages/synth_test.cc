#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "gpu_worker/stages/synth/source.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/device/devices.h"

namespace tapedeck::gpu_worker::stages::synth {
namespace {

std::vector<Complex> Make(const Parameters& parameters, uint64_t first, size_t count) {
  std::vector<Complex> out(count);
  Generator(WaveformOf(parameters)).Make(first, out);
  return out;
}

bool Same(std::span<const Complex> a, std::span<const Complex> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

TEST(SynthTest, AnySampleCanBeComputedAlone) {
  const Parameters parameters{.seed = 7, .tones = {0.1, -0.3, 0.49}};
  const auto all = Make(parameters, 1'000'000'007, 1000);
  for (const size_t i : {0u, 1u, 255u, 256u, 999u}) {
    EXPECT_TRUE(Same(Make(parameters, 1'000'000'007 + i, 1), {&all[i], 1})) << i;
  }
}

TEST(SynthTest, TonesHaveTheirFrequencyFarFromTheStart) {
  for (const double tone : {0.125, -0.25, 0.5, 1e-9, -0.3333}) {
    const uint64_t first = 123'456'789'000;
    const auto samples = Make({.tones = {tone}, .noise = 0}, first, 600);
    for (size_t i = 0; i < samples.size(); ++i) {
      const long double turns = static_cast<long double>(tone) * (first + i);
      const double angle = static_cast<double>((turns - std::floor(turns)) * 2 * std::numbers::pi);
      // The tone itself is rounded to 2^-64 turns, which shifts the phase by up to 7e-9 here.
      EXPECT_NEAR(samples[i].re, std::cos(angle), 4e-7) << tone << " " << i;
      EXPECT_NEAR(samples[i].im, std::sin(angle), 4e-7) << tone << " " << i;
    }
  }
}

TEST(SynthTest, NoiseIsBellShapedWithTheDeviationAskedFor) {
  const auto samples = Make({.tones = {}, .noise = 0.1}, 0, 1 << 20);
  double sum = 0, squares = 0, fourth = 0, product = 0, neighbours = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double re = samples[i].re / 0.1, im = samples[i].im / 0.1;
    sum += re + im;
    squares += re * re + im * im;
    fourth += re * re * re * re + im * im * im * im;
    product += re * im;
    if (i > 0) neighbours += re * samples[i - 1].re / 0.1;
  }
  const double n = 2.0 * samples.size();
  EXPECT_NEAR(sum / n, 0, 0.003);
  EXPECT_NEAR(squares / n, 1, 0.003);
  EXPECT_NEAR(fourth / n, 2.7, 0.02);  // 3 for a normal distribution, 1.8 for a uniform one
  EXPECT_NEAR(2 * product / n, 0, 0.005);
  EXPECT_NEAR(2 * neighbours / n, 0, 0.005);
}

TEST(SynthTest, SeedsDiffer) {
  EXPECT_FALSE(Same(Make({.seed = 1}, 0, 64), Make({.seed = 2}, 0, 64)));
}

TEST(SynthTest, ItsOriginMakesTheSameSignalAgain) {
  const Parameters parameters{.seed = ~uint64_t{0}, .tones = {1.0 / 3, -1e-17}, .noise = 0.7};
  const auto again = FromOrigin(Describe(parameters).parameters);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, parameters);
}

TEST(SynthTest, RefusesTheOriginOfAnotherVersion) {
  auto told = Describe({}).parameters;
  told["version"] = "2";
  EXPECT_EQ(FromOrigin(told).status().code(), absl::StatusCode::kInvalidArgument);
  told = Describe({}).parameters;
  told["tones"] = "0.1,x";
  EXPECT_EQ(FromOrigin(told).status().code(), absl::StatusCode::kInvalidArgument);
}

class SynthSourceTest : public DeviceTest {};

TEST_P(SynthSourceTest, EveryDeviceMakesTheSameBits) {
  constexpr size_t kBytes = 1 << 20;
  for (const Parameters& parameters :
       {Parameters{}, Parameters{.seed = 99, .tones = {}, .noise = 3},
        Parameters{.tones = {0.5, -0.5, 0.1, 1e-12, 0.33, -0.01}, .noise = 0}}) {
    auto source = Create(parameters, {.device = &device()});
    ASSERT_TRUE(source.ok()) << source.status();
    auto host = device().NewHostMemory(kBytes).value();
    auto memory = device().NewDeviceMemory(kBytes).value();
    const Slot slot{.sequence = 1'000'003,
                    .host = host->window().bytes.first(kBytes),
                    .device = memory->window().bytes.first(kBytes)};
    ASSERT_EQ(source->stage->Fill(slot, queue()).value().bytes, kBytes);
    ASSERT_TRUE(queue().CopyToHost(slot.host.data(), slot.device.data(), kBytes).ok());
    ASSERT_TRUE(Wait(queue()).ok());
    const size_t samples = kBytes / sizeof(Complex);
    EXPECT_TRUE(Same(Make(parameters, slot.sequence * samples, samples),
                     {reinterpret_cast<const Complex*>(slot.host.data()), samples}));
  }
}

TAPEDECK_ON_EVERY_DEVICE(SynthSourceTest);

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::synth
