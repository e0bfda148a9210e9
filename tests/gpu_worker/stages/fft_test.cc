#include "gpu_worker/stages/fft/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include "dataplane/datatype.h"
#include "services/base/errors.h"
#include "services/signal/samples/conversion.h"
#include "services/signal/samples/reference_fft.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/scratch_file.h"
#include "tests/shared_data.h"

namespace tapedeck::gpu_worker::stages::fft {
namespace {

using Samples = std::vector<std::complex<float>>;

TEST(ReferenceFftTest, IsTheDiscreteFourierTransform) {
  for (const uint32_t points : {1u, 2u, 3u, 4u, 8u, 10u, 64u, 97u, 128u, 1000u, 1024u, 2048u}) {
    std::mt19937 random(points);
    std::normal_distribution<double> normal;
    std::vector<double> real(points), imaginary(points);
    for (uint32_t i = 0; i < points; ++i) real[i] = normal(random), imaginary[i] = normal(random);
    std::vector<std::complex<double>> expected(points);
    for (uint32_t k = 0; k < points; ++k) {
      for (uint32_t n = 0; n < points; ++n) {
        expected[k] += std::complex(real[n], imaginary[n]) *
                       std::polar(1.0, -2 * std::numbers::pi * (k * n % points) / points);
      }
    }
    services::samples::Workspace workspace;
    services::samples::ReferenceFft(points).Forward(real, imaginary, workspace);
    for (uint32_t k = 0; k < points; ++k) {
      EXPECT_NEAR(real[k], expected[k].real(), 1e-12 * points);
      EXPECT_NEAR(imaginary[k], expected[k].imag(), 1e-12 * points);
    }
  }
}

double RelativeL2(const Samples& input, const Samples& output, uint32_t points) {
  const services::samples::ReferenceFft reference(points);
  services::samples::Workspace workspace;
  double difference = 0;
  double power = 0;
  for (size_t start = 0; start < input.size(); start += points) {
    std::vector<double> real(points), imaginary(points);
    for (uint32_t i = 0; i < points; ++i) {
      real[i] = input[start + i].real();
      imaginary[i] = input[start + i].imag();
    }
    reference.Forward(real, imaginary, workspace);
    for (uint32_t i = 0; i < points; ++i) {
      const std::complex<double> wanted(real[i], imaginary[i]);
      difference += std::norm(std::complex<double>(output[start + i]) - wanted);
      power += std::norm(wanted);
    }
  }
  return std::sqrt(difference / power);
}

class FftTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    const std::string library = LibraryFor(device());
    if (library.rfind("no FFT", 0) == 0) GTEST_SKIP() << library;
  }

  // Transforms on the device under test.
  Samples Forward(const Library& library, const Samples& input, uint32_t points) {
    const size_t bytes = input.size() * sizeof(input[0]);
    auto host = device().NewHostMemory(bytes).value();
    auto memory = device().NewDeviceMemory(bytes).value();
    auto fft = library.create({.points = points, .transforms = input.size() / points}, queue());
    EXPECT_TRUE(fft.ok()) << fft.status();
    if (!fft.ok()) return {};
    std::byte* const on_host = host->window().bytes.data();
    std::byte* const on_device = memory->window().bytes.data();
    std::memcpy(on_host, input.data(), bytes);
    EXPECT_TRUE(queue().CopyToDevice(on_device, on_host, bytes).ok());
    EXPECT_TRUE((*fft)->Forward(on_device, input.size() / points).ok());
    EXPECT_TRUE(queue().CopyToHost(on_host, on_device, bytes).ok());
    EXPECT_TRUE(Wait(queue()).ok());
    Samples output(input.size());
    std::memcpy(output.data(), on_host, bytes);
    return output;
  }

  void ExpectAccurate(const Samples& input, uint32_t points) {
    for (const Library& library : LibrariesFor(device())) {
      const double error = RelativeL2(input, Forward(library, input, points), points);
      RecordProperty("relative_l2_e9_" + library.name + std::to_string(points),
                     std::to_string(error * 1e9));
      EXPECT_LT(error, 1e-6) << library.name << ", " << points << " points";
    }
  }

  void ExpectAccurateOnFile(const std::string& path, const char* datatype_name) {
    const std::string bytes = ReadFile(path);
    const auto datatype = dataplane::ParseDatatype(datatype_name).value();
    Samples input(bytes.size() / datatype.bytes_per_sample());
    const auto cf32 = dataplane::ParseDatatype("cf32_le").value();
    services::samples::Conversion::Between(datatype, cf32)
        ->Run(std::as_bytes(std::span(bytes)), std::as_writable_bytes(std::span(input)).data());
    input.resize(input.size() / 1024 * 1024);
    ASSERT_FALSE(input.empty());
    ExpectAccurate(input, 1024);
  }
};

TEST_P(FftTest, IsAccurateOnRandomInputOfEverySize) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  // Powers of two, other products of small factors, and primes, whose transforms start anywhere.
  std::vector<uint32_t> lengths{3, 15, 1000, 1536, 31, 37, 1009, 65521, 65535};
  for (uint32_t points = kMinPoints; points <= kMaxPoints; points *= 2) lengths.push_back(points);
  for (const uint32_t points : lengths) {
    Samples input(std::max<size_t>(3 * points, 8192));
    for (auto& sample : input) sample = {normal(random), normal(random)};
    input.resize(input.size() / points * points);
    ExpectAccurate(input, points);
  }
}

TEST_P(FftTest, IsAccurateOnAnAdsbCapture) {
  TAPEDECK_SHARED_OR_SKIP(path, "adsb_modes_cu8_2Msps.bin");
  ExpectAccurateOnFile(path, "cu8");
}

TEST_P(FftTest, IsAccurateOnTheSigmfLogo) {
  TAPEDECK_SHARED_OR_SKIP(path, "sigmf_logo.sigmf-data");
  ExpectAccurateOnFile(path, "ri16_le");
}

TEST_P(FftTest, TransformsAreForwardAndUnnormalised) {
  Samples input(16);
  for (size_t n = 0; n < 16; ++n) {
    input[n] = std::polar(1.0f, static_cast<float>(2 * std::numbers::pi * 3 * n / 16));
  }
  for (const Library& library : LibrariesFor(device())) {
    const Samples output = Forward(library, input, 16);
    for (size_t k = 0; k < 16; ++k) {
      EXPECT_NEAR(std::abs(output[k]), k == 3 ? 16 : 0, 1e-5) << library.name;
    }
  }
}

TAPEDECK_ON_EVERY_DEVICE(FftTest);

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::fft
