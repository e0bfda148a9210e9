// Spectra whose bins are no power of two, or no numbers.
#include "storage_node/view/analyzers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace tapedeck::storage_node::view {
namespace {

constexpr dataplane::Datatype kFloats = {
    .complex = true, .kind = dataplane::Datatype::Kind::kFloat, .bits = 32};

std::vector<double> PowersOf(const std::vector<std::complex<float>>& spectrum, uint32_t columns) {
  const auto points = static_cast<uint32_t>(spectrum.size());
  const auto made = AnalyzerFor({.points = points}, kFloats, columns, 1'000'000);
  EXPECT_TRUE(made.ok()) << made.status();
  const auto powers = (*made)->Powers(std::as_bytes(std::span(spectrum)));
  EXPECT_EQ(powers.size(), (*made)->columns());
  return {powers.begin(), powers.end()};
}

// Bin k is k / points of the rate, or as much less one in the upper half; column c stands for
// (c - columns / 2) / columns.
TEST(AnalyzersTest, EveryBinIsInTheColumnNearestToItsFrequency) {
  for (const uint32_t points : {2, 9, 24, 600, 1000, 4096, 50001}) {
    for (const uint32_t most : {16, 512}) {
      const uint32_t columns = std::min(points, most);
      for (const uint32_t bin : {0u, 1u, points / 3, points / 2, points - 1}) {
        std::vector<std::complex<float>> spectrum(points);
        spectrum[bin] = {3, 4};
        const auto powers = PowersOf(spectrum, most);
        ASSERT_EQ(powers.size(), columns);
        const auto peak = std::ranges::max_element(powers) - powers.begin();
        EXPECT_EQ(powers[static_cast<size_t>(peak)], 25);
        EXPECT_EQ(std::ranges::count(powers, 0.0), columns - 1);
        const double wanted = static_cast<double>(bin) / points;
        const double at = (static_cast<double>(peak) - columns / 2) / columns;
        const double apart = std::abs(std::remainder(at - wanted, 1.0));
        EXPECT_LE(apart, 0.5 / columns + 1e-12) << points << " " << most << " " << bin;
      }
    }
  }
}

TEST(AnalyzersTest, EveryColumnHasABin) {
  for (const uint32_t points : {17, 600, 513}) {
    const auto powers = PowersOf(std::vector<std::complex<float>>(points, 1), 512);
    EXPECT_EQ(std::ranges::count(powers, 0.0), 0) << points;
  }
}

TEST(AnalyzersTest, WhatIsNoNumberStaysNone) {
  std::vector<std::complex<float>> spectrum(64, 1);
  spectrum[5] = std::numeric_limits<float>::quiet_NaN();
  const auto powers = PowersOf(spectrum, 16);
  EXPECT_EQ(std::ranges::count_if(powers, [](double one) { return std::isnan(one); }), 1);
}

}  // namespace
}  // namespace tapedeck::storage_node::view
