// Recordings of spectra: pictures show them as they are, at the frequencies of the samples that
// they were made of. And signals that are short beside the rows of a picture.
#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/signal/samples/reference_fft.h"
#include "services/signal/samples/window.h"
#include "tests/storage_node/view/view_fixture.h"

namespace tapedeck::storage_node::view {
namespace {

using services::model::Origin;
using services::model::OriginStage;
using testing::Each;
using testing::FloatNear;
using testing::HasSubstr;

constexpr float kAmplitude = 0.5f;  // -6.02 dB

OriginStage Fft(uint32_t points, const std::string& window = "none") {
  return {.name = "fft", .parameters = {{"points", absl::StrCat(points)}, {"window", window}}};
}
OriginStage Power(uint32_t points, uint32_t average) {
  return {.name = "power",
          .parameters = {{"points", absl::StrCat(points)}, {"average", absl::StrCat(average)}}};
}

std::vector<std::complex<float>> SamplesOf(const std::vector<std::byte>& bytes) {
  std::vector<std::complex<float>> samples(bytes.size() / sizeof(std::complex<float>));
  std::memcpy(samples.data(), bytes.data(), bytes.size());
  return samples;
}
template <typename T>
std::vector<std::byte> BytesOf(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// As the worker's fft does it: forward, unnormalised, from 0 Hz on.
std::vector<std::complex<float>> Transformed(std::vector<std::complex<float>> samples,
                                             uint32_t points, const std::string& window) {
  const services::samples::ReferenceFft fft(points);
  const std::vector<double> weights = services::samples::WindowWeights(window, points);
  services::samples::Workspace workspace;
  services::samples::SplitComplex parts(points);
  for (size_t at = 0; at < samples.size(); at += points) {
    for (size_t n = 0; n < points; ++n) {
      parts.real[n] = samples[at + n].real() * weights[n];
      parts.imaginary[n] = samples[at + n].imag() * weights[n];
    }
    fft.Forward(parts.real, parts.imaginary, workspace);
    for (size_t n = 0; n < points; ++n) {
      samples[at + n] = {static_cast<float>(parts.real[n]), static_cast<float>(parts.imaginary[n])};
    }
  }
  return samples;
}

// As its power does it: the mean of |X|^2, bin by bin.
std::vector<float> Averaged(const std::vector<std::complex<float>>& spectra, size_t points,
                            size_t average) {
  std::vector<float> powers(spectra.size() / average);
  for (size_t i = 0; i < spectra.size(); ++i) {
    const size_t spectrum = i / points;
    powers[spectrum / average * points + i % points] +=
        std::norm(spectra[i]) / static_cast<float>(average);
  }
  return powers;
}

class SpectraViewTest : public testing::Test {
 protected:
  std::string Record(const Origin& origin, const std::vector<std::vector<std::byte>>& blocks) {
    auto recorder = node_.Record({.origin = origin});
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < blocks.size(); ++i) Push(*recorder, i, blocks[i]);
    EXPECT_TRUE(recorder->Finish().ok());
    return recorder->admission.accept.recording;
  }
  absl::StatusOr<services::Spectrogram> Look(const std::string& name, uint32_t columns,
                                             uint32_t rows) {
    return node_.node().view().ReadSpectrogram(
        {.recording = name, .columns = columns, .rows = rows});
  }
  // 4 blocks of a tone.
  static std::vector<std::vector<std::byte>> Tones(double turns) {
    std::vector<std::vector<std::byte>> blocks;
    for (uint64_t i = 0; i < 4; ++i) blocks.push_back(Tone(i, turns, kAmplitude));
    return blocks;
  }

  NodeFixture node_;
};

// The peak's frequency, as a share of the source's rate, and its level.
void ExpectTone(const services::Spectrogram& made, double turns) {
  EXPECT_TRUE(made.complex);
  for (uint32_t row = 0; row < made.rows; ++row) {
    const uint32_t peak = Loudest(made, row);
    const double at = (peak - static_cast<double>(made.columns / 2)) / made.columns;
    EXPECT_NEAR(at, turns, 1e-9) << row;
    EXPECT_NEAR(At(made, row, peak), -6.02, 0.1) << row;
    EXPECT_LT(At(made, row, (peak + made.columns / 2) % made.columns), -90) << row;
  }
  ASSERT_EQ(made.means.size(), made.columns);
  const auto peak = std::ranges::max_element(made.means) - made.means.begin();
  EXPECT_EQ(static_cast<uint32_t>(peak), Loudest(made, 0));
  EXPECT_NEAR(made.means[static_cast<size_t>(peak)], -6.02, 0.1);
}

TEST_F(SpectraViewTest, AToneIsAtItsFrequencyInTimeAndInSpectra) {
  for (const double turns : {5.0 / 64, -0.5}) {
    SCOPED_TRACE(turns);
    const auto blocks = Tones(turns);
    const auto time = Look(Record({}, blocks), 64, 16);
    ASSERT_TRUE(time.ok()) << time.status();
    EXPECT_EQ(time->bins, 0u);
    EXPECT_EQ(time->band_rate, 1e9);
    ExpectTone(*time, turns);
    for (const uint32_t points : {64, 8192}) {
      for (const std::string window : {"none", "flattop"}) {
        SCOPED_TRACE(absl::StrCat(points, " ", window));
        std::vector<std::vector<std::byte>> spectra;
        for (const auto& block : blocks) {
          spectra.push_back(BytesOf(Transformed(SamplesOf(block), points, window)));
        }
        const auto made = Look(Record({.transforms = {Fft(points, window)}}, spectra), 64, 8);
        ASSERT_TRUE(made.ok()) << made.status();
        EXPECT_EQ(made->bins, points);
        EXPECT_EQ(made->band_rate, 1e9);
        EXPECT_EQ(made->columns, 64u);
        EXPECT_EQ(made->covered_samples, made->span.count);
        EXPECT_EQ(made->transforms, 4 * kBlockSamples / points);
        ExpectTone(*made, turns);
      }
    }
  }
}

TEST_F(SpectraViewTest, AveragedPowersHaveTheRateOfTheirSource) {
  constexpr uint32_t kPoints = 64;
  constexpr uint32_t kAverage = 4;
  const auto blocks = Tones(5.0 / 64);
  std::vector<float> powers;
  for (const auto& block : blocks) {
    const auto some = Averaged(Transformed(SamplesOf(block), kPoints, "hann"), kPoints, kAverage);
    powers.insert(powers.end(), some.begin(), some.end());
  }
  const std::string name =
      Record({.transforms = {Fft(kPoints, "hann"), {.name = "detect"}, Power(kPoints, kAverage)},
              .datatype = "rf32_le"},
             {BytesOf(powers)});
  const auto made = Look(name, 64, 4);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->sample_rate, 1e9);
  EXPECT_EQ(made->band_rate, 4e9);
  EXPECT_EQ(made->transforms, 4 * kBlockSamples / kPoints / kAverage);
  ExpectTone(*made, 5.0 / 64);
}

// A picture has no more columns than there are bins, and no more rows than spectra.
TEST_F(SpectraViewTest, FewBinsAreFewColumnsAndEverySpectrumHasItsRow) {
  constexpr uint32_t kPoints = 16;
  std::vector<std::complex<float>> spectra(kBlockSamples);
  for (size_t n = 0; n < 8; ++n) spectra[n * kPoints + n] = kPoints;  // a tone a bin higher each
  const auto name = Record({.transforms = {Fft(kPoints)}}, {BytesOf(spectra)});
  const auto made = node_.node().view().ReadSpectrogram(
      {.recording = name, .span = {.first = 0, .count = 8 * kPoints}, .columns = 64, .rows = 16});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->columns, kPoints);
  ASSERT_EQ(made->rows, 8u) << "a row for each";
  ASSERT_EQ(made->powers.size(), 8u * kPoints);
  for (uint32_t row = 0; row < 8; ++row) {
    EXPECT_EQ(Loudest(*made, row), row + kPoints / 2) << row;
    EXPECT_NEAR(At(*made, row, Loudest(*made, row)), 0, 0.01) << row;
  }
}

// One sentence says why, and the levels over time can still be seen.
TEST_F(SpectraViewTest, WhatHasNoFrequenciesIsRefused) {
  const std::vector<std::pair<std::vector<OriginStage>, std::string>> cases = {
      {{{.name = "wavelet"}}, "the node does not know its transform wavelet"},
      {{Fft(64), Fft(64)}, "a second fft transformed its spectra"},
      {{{.name = "fft"}}, "its fft has no number of points"},
      {{Fft(64, "round")}, "its fft has the unknown window round"},
      {{Fft(24)}, "do not hold whole spectra of 24 points"},
      {{Power(1, 64)}, "it holds the power of samples in time"},
      {{Fft(64), Power(64, 1), Power(64, 1)}, "a second power squared its powers"},
      {{Fft(64), Power(32, 2)}, "its power averages 32 points, and its spectra have 64"},
      {{Fft(64), {.name = "convert", .parameters = {{"to", "rf32_le"}}}},
       "its convert kept the real part of its spectra alone"},
  };
  const std::vector<std::byte> block(kBlockBytes);
  for (const auto& [transforms, why] : cases) {
    const std::string name = Record({.transforms = transforms}, {block});
    const auto made = Look(name, 64, 4);
    ASSERT_FALSE(made.ok()) << why;
    EXPECT_EQ(Reason(made.status()), "ARGUMENT_INVALID");
    EXPECT_THAT(made.status().message(), HasSubstr("cannot be drawn by frequency: "));
    EXPECT_THAT(made.status().message(), HasSubstr(why));
    EXPECT_TRUE(node_.node().view().ReadEnvelope({.recording = name, .points = 4}).ok());
  }
  // These leave the samples' order as it is.
  for (const auto& transforms : std::vector<std::vector<OriginStage>>{
           {{.name = "detect"}},
           {{.name = "convert", .parameters = {{"to", "cf32_le"}}}},
           {Fft(64), Power(1, 1)}}) {
    EXPECT_TRUE(Look(Record({.transforms = transforms}, {block}), 64, 4).ok());
  }
}

// A row of 8 blocks holds one sample of full scale: wherever it is, its row shows it, and no other.
TEST_F(SpectraViewTest, AShortPulseIsSeenInItsRow) {
  for (const uint64_t place : {uint64_t{1}, 3 * kBlockSamples + 777, 8 * kBlockSamples - 2}) {
    std::vector<std::vector<std::byte>> blocks(16, std::vector<std::byte>(kBlockBytes));
    const uint64_t sample = 4 * kBlockSamples + place;
    const std::complex<float> full = 1;
    std::memcpy(blocks[sample / kBlockSamples].data() + sample % kBlockSamples * 8, &full, 8);
    const auto made = Look(Record({}, blocks), 64, 4);
    ASSERT_TRUE(made.ok()) << made.status();
    ASSERT_EQ(made->rows, 4u);
    EXPECT_EQ(made->covered_samples, made->span.count);
    // Under the middle of the window or half of its height.
    const double most = 10 * std::log10(4.0 / (64 * 64));
    const uint32_t row = static_cast<uint32_t>(sample / (4 * kBlockSamples));
    EXPECT_GE(At(*made, row, 9), most - 6.03) << place;
    EXPECT_LE(At(*made, row, 9), most + 0.01) << place;
    EXPECT_EQ(At(*made, (row + 2) % 4, 9), -200) << place;
  }
}

// The same among spectra: one of 1024 that is not silent.
TEST_F(SpectraViewTest, AShortPulseAmongSpectraIsSeenInItsRow) {
  constexpr uint32_t kPoints = 64;
  std::vector<std::vector<std::byte>> blocks(8, std::vector<std::byte>(kBlockBytes));
  std::vector<std::complex<float>> pulse(kPoints, std::complex<float>(kPoints));
  std::memcpy(blocks[5].data() + 101 * kPoints * 8, pulse.data(), pulse.size() * 8);
  const auto made = Look(Record({.transforms = {Fft(kPoints)}}, blocks), 64, 2);
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->powers.size(), 2u * kPoints);
  const std::vector<float> first(made->powers.begin(), made->powers.begin() + kPoints);
  const std::vector<float> second(made->powers.begin() + kPoints, made->powers.end());
  EXPECT_THAT(first, Each(-200));
  EXPECT_THAT(second, Each(FloatNear(0, 0.01)));
}

}  // namespace
}  // namespace tapedeck::storage_node::view
