#include "services/signal/samples/conversion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tapedeck::services::samples {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

dataplane::Datatype Cf32() { return dataplane::ParseDatatype("cf32_le").value(); }

// Of components as they lie in memory.
template <typename In, typename Out>
std::vector<Out> Converted(const char* from, const char* to, const std::vector<In>& in) {
  const auto taken = dataplane::ParseDatatype(from).value();
  const auto given = dataplane::ParseDatatype(to).value();
  const auto bytes = std::as_bytes(std::span(in));
  const size_t samples = bytes.size() / taken.bytes_per_sample();
  std::vector<Out> out(samples * given.bytes_per_sample() / sizeof(Out));
  Conversion::Between(taken, given)->Run(bytes, std::as_writable_bytes(std::span(out)).data());
  return out;
}

struct Row {
  const char* datatype;
  std::vector<uint8_t> bytes;  // of two samples
  std::vector<float> expected;
};

// Written by hand: half of full scale and its negative, both ends of the range, byte order.
const Row kTable[] = {
    {"cu8", {0x00, 0xff, 0x80, 0xc0}, {-1, 127.0f / 128, 0, 0.5}},
    {"ru8", {0x00, 0xc0}, {-1, 0, 0.5, 0}},
    {"ci8", {0x80, 0x7f, 0x00, 0xc0}, {-1, 127.0f / 128, 0, -0.5}},
    {"ri8", {0x40, 0xc0}, {0.5, 0, -0.5, 0}},
    {"cu16_le", {0x00, 0x00, 0xff, 0xff, 0x00, 0x80, 0x00, 0xc0}, {-1, 32767.0f / 32768, 0, 0.5}},
    {"cu16_be", {0x00, 0x00, 0xff, 0xff, 0x80, 0x00, 0xc0, 0x00}, {-1, 32767.0f / 32768, 0, 0.5}},
    {"ru16_le", {0x00, 0x40, 0x01, 0x80}, {-0.5, 0, 1.0f / 32768, 0}},
    {"ru16_be", {0x40, 0x00, 0x80, 0x01}, {-0.5, 0, 1.0f / 32768, 0}},
    {"ci16_le",
     {0x00, 0x80, 0xff, 0x7f, 0x00, 0x40, 0x00, 0xc0},
     {-1, 32767.0f / 32768, 0.5, -0.5}},
    {"ci16_be",
     {0x80, 0x00, 0x7f, 0xff, 0x40, 0x00, 0xc0, 0x00},
     {-1, 32767.0f / 32768, 0.5, -0.5}},
    {"ri16_le", {0x01, 0x00, 0xff, 0xff}, {1.0f / 32768, 0, -1.0f / 32768, 0}},
    {"ri16_be", {0x00, 0x01, 0xff, 0xff}, {1.0f / 32768, 0, -1.0f / 32768, 0}},
    {"cu32_le",
     {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0xc0, 0, 0, 0, 0x40},
     {-1, 0, 0.5, -0.5}},
    {"cu32_be",
     {0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x40, 0, 0, 0},
     {-1, 0, 0.5, -0.5}},
    {"ru32_le", {0x01, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x40}, {0x1p-31f, 0, -0.5, 0}},
    {"ru32_be", {0x80, 0x00, 0x00, 0x01, 0x40, 0x00, 0x00, 0x00}, {0x1p-31f, 0, -0.5, 0}},
    {"ci32_le",
     {0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x40, 0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff,
      0xff},
     {-1, 0.5, 0x1p-31f, -0x1p-31f}},
    {"ci32_be",
     {0x80, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xff, 0xff, 0xff,
      0xff},
     {-1, 0.5, 0x1p-31f, -0x1p-31f}},
    {"ri32_le", {0x00, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x00, 0x20}, {-0.5, 0, 0.25, 0}},
    {"ri32_be", {0xc0, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00}, {-0.5, 0, 0.25, 0}},
    {"cf32_le",
     {0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x20, 0xc0, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
      0x7f},
     {1, -2.5, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::infinity()}},
    {"cf32_be",
     {0x3f, 0x80, 0x00, 0x00, 0xc0, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x7f, 0x80, 0x00,
      0x00},
     {1, -2.5, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::infinity()}},
    {"rf32_le", {0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x20, 0xc0}, {1, 0, -2.5, 0}},
    {"rf32_be", {0x3f, 0x80, 0x00, 0x00, 0xc0, 0x20, 0x00, 0x00}, {1, 0, -2.5, 0}},
    {"rf64_le", {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0x04, 0xc0}, {1, 0, -2.5, 0}},
    {"rf64_be", {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0x04, 0, 0, 0, 0, 0, 0}, {1, 0, -2.5, 0}},
    {"cf64_le",
     {0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0x04, 0xc0,
      0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0, 0, 0, 0, 0, 0, 0,    0},
     {1, -2.5, 0.5, 0}},
    {"cf64_be",
     {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0x04, 0, 0, 0, 0, 0, 0,
      0x3f, 0xe0, 0, 0, 0, 0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0},
     {1, -2.5, 0.5, 0}},
};

TEST(ConversionTest, EverySigmfTypeMatchesTheTable) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.datatype);
    const auto datatype = dataplane::ParseDatatype(row.datatype);
    ASSERT_TRUE(datatype.ok()) << datatype.status();
    ASSERT_EQ(row.bytes.size(), 2 * datatype->bytes_per_sample());
    const auto to_cf32 = Conversion::Between(*datatype, Cf32());
    ASSERT_TRUE(to_cf32.ok()) << to_cf32.status();
    std::vector<float> out(4, NAN);
    to_cf32->Run(std::as_bytes(std::span(row.bytes)),
                 std::as_writable_bytes(std::span(out)).data());
    EXPECT_THAT(out, ElementsAreArray(row.expected));
    // And back.
    std::vector<uint8_t> again(row.bytes.size(), 0xaa);
    Conversion::Between(Cf32(), *datatype)
        ->Run(std::as_bytes(std::span(out)), std::as_writable_bytes(std::span(again)).data());
    EXPECT_EQ(again, row.bytes);
  }
}

TEST(ConversionTest, RoundsOnceToTheNearestFloat) {
  EXPECT_THAT((Converted<int32_t, float>("ri32_le", "rf32_le", {0x7fffffff})), ElementsAre(1.0f));
}

TEST(ConversionTest, RoundsToTheNearestIntegerTiesToTheEvenOne) {
  const auto wanted = ElementsAre(0, 2, 2, 4, -2, -2, 1, -1);
  const std::vector<float> halves = {0.5f / 128,  1.5f / 128,  2.5f / 128,  3.5f / 128,
                                     -2.5f / 128, -1.5f / 128, 0.51f / 128, -0.51f / 128};
  EXPECT_THAT((Converted<float, int8_t>("rf32_le", "ri8", halves)), wanted);
}

TEST(ConversionTest, WhatIsBeyondTheRangeSaturatesAndNoNumberIsTheMiddle) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {1, -1, 1.5, -1e300, infinity, -infinity, NAN, 126.5 / 128};
  EXPECT_THAT((Converted<double, int8_t>("rf64_le", "ri8", values)),
              ElementsAre(127, -128, 127, -128, 127, -128, 0, 126));
  EXPECT_THAT((Converted<double, uint8_t>("rf64_le", "ru8", values)),
              ElementsAre(255, 0, 255, 0, 255, 0, 128, 254));
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_THAT((Converted<double, int32_t>("rf64_le", "ri32_le", values)),
              ElementsAre(kMost, kLeast, kMost, kLeast, kMost, kLeast, 0, 2122317824));
}

TEST(ConversionTest, FloatsAreNotClipped) {
  const std::vector<double> values = {3.5, -1e300, 1e-300};
  EXPECT_THAT((Converted<double, float>("rf64_le", "rf32_le", values)),
              ElementsAre(3.5f, -std::numeric_limits<float>::infinity(), 0.0f));
}

TEST(ConversionTest, RealAndComplex) {
  EXPECT_THAT((Converted<int8_t, uint8_t>("ri8", "cu8", {64, -128})),
              ElementsAre(192, 128, 0, 128));
  EXPECT_THAT((Converted<int8_t, int8_t>("ci8", "ri8", {1, 2, 3, 4})), ElementsAre(1, 3));
}

// More samples than are converted at a time.
TEST(ConversionTest, EveryValueOf16BitsSurvivesFloat) {
  std::vector<int16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int16_t>(i);
  for (const char* through : {"rf32_be", "cf64_le", "ci32_be", "ru16_le", "cu32_le"}) {
    const auto between = Converted<int16_t, uint8_t>("ri16_le", through, all);
    EXPECT_EQ((Converted<uint8_t, int16_t>(through, "ri16_le", between)), all) << through;
  }
}

TEST(ConversionTest, RefusesOtherWidths) {
  EXPECT_EQ(Conversion::Between({.complex = true, .bits = 12}, Cf32()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tapedeck::services::samples
