// The convert transform on every device, held against the conversion that conversion_test.cc has
// tables of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dataplane/datatype.h"
#include "gpu_worker/stages/convert/transform.h"
#include "services/signal/samples/conversion.h"
#include "tests/gpu_worker/device/devices.h"

namespace tapedeck::gpu_worker::stages::convert {
namespace {

constexpr size_t kSamples = 1000;

std::vector<std::string> EveryDatatype() {
  std::vector<std::string> names;
  for (const std::string field : {"c", "r"}) {
    for (const char* component : {"i8", "u8"}) names.push_back(field + component);
    for (const std::string component : {"f32", "f64", "i32", "i16", "u32", "u16"}) {
      for (const char* order : {"_le", "_be"}) names.push_back(field + component + order);
    }
  }
  return names;
}

class ConvertTest : public DeviceTest {
 protected:
  std::vector<std::byte> Apply(const Parameters& parameters, const std::vector<std::byte>& in,
                               size_t out_bytes) {
    const size_t most = std::max(in.size(), out_bytes);
    auto host = device().NewHostMemory(most).value();
    auto taken = device().NewDeviceMemory(most).value();
    auto given = device().NewDeviceMemory(most).value();
    auto transform = CreateTransform(
        parameters, {.device = &device(), .queue = &queue(), .block_bytes = in.size()});
    EXPECT_TRUE(transform.ok()) << transform.status();
    if (!transform.ok()) return {};
    std::byte* const on_host = host->window().bytes.data();
    const std::span out = given->window().bytes.first(out_bytes);
    std::ranges::copy(in, on_host);
    EXPECT_TRUE(queue().CopyToDevice(taken->window().bytes.data(), on_host, in.size()).ok());
    EXPECT_TRUE((*transform)->Apply(taken->window().bytes.first(in.size()), out).ok());
    EXPECT_TRUE(queue().CopyToHost(on_host, out.data(), out_bytes).ok());
    EXPECT_TRUE(Wait(queue()).ok());
    return {on_host, on_host + out_bytes};
  }
};

// Whatever lies in memory, numbers of every size and none among them. A number that is none may
// have other bits behind it.
TEST_P(ConvertTest, EveryDeviceConvertsEveryPairAlike) {
  std::mt19937 random(1);
  for (const std::string& from : EveryDatatype()) {
    const auto taken = dataplane::ParseDatatype(from).value();
    std::vector<std::byte> in(kSamples * taken.bytes_per_sample());
    const bool is_float = taken.kind == dataplane::Datatype::Kind::kFloat;
    if (!is_float) {
      for (std::byte& byte : in) byte = static_cast<std::byte>(random());
    } else {
      std::vector<double> numbers(2 * kSamples);
      std::uniform_real_distribution<double> uniform(-1.3, 1.3);
      for (double& number : numbers) number = uniform(random);
      numbers[0] = std::numeric_limits<double>::infinity();
      numbers[2] = -numbers[0];
      const auto exact = dataplane::ParseDatatype("cf64_le").value();
      services::samples::Conversion::Between(exact, taken)
          ->Run(std::as_bytes(std::span(numbers)), in.data());
    }
    for (const std::string& to : EveryDatatype()) {
      if (from == to) continue;
      const auto given = dataplane::ParseDatatype(to).value();
      std::vector<std::byte> wanted(kSamples * given.bytes_per_sample());
      services::samples::Conversion::Between(taken, given)->Run(in, wanted.data());
      EXPECT_TRUE(Apply({.from = from, .to = to}, in, wanted.size()) == wanted)
          << from << " to " << to;
    }
  }
}

TEST_P(ConvertTest, WhatIsNoNumberIsTheMiddleOfIntegersOnEveryDevice) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::byte> in(2 * sizeof(float));
  std::memcpy(in.data(), &nan, sizeof(nan));
  std::memcpy(in.data() + sizeof(nan), &nan, sizeof(nan));
  const auto made = Apply({.from = "cf32_le", .to = "cu16_be"}, in, 4);
  EXPECT_EQ(made, (std::vector<std::byte>{std::byte{0x80}, {}, std::byte{0x80}, {}}));
  const auto wide = Apply({.from = "cf32_le", .to = "rf64_le"}, in, 8);
  double number = 0;
  std::memcpy(&number, wide.data(), sizeof(number));
  EXPECT_TRUE(number != number);
}

TAPEDECK_ON_EVERY_DEVICE(ConvertTest);

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::convert
