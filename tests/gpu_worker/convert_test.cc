#include "gpu_worker/stages/file/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tapedeck::gpu_worker::stages::file {
namespace {

using testing::ElementsAreArray;

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

TEST(ConvertTest, EverySigmfTypeMatchesTheTable) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(row.datatype);
    const auto datatype = dataplane::ParseDatatype(row.datatype);
    ASSERT_TRUE(datatype.ok()) << datatype.status();
    ASSERT_EQ(row.bytes.size(), 2 * datatype->bytes_per_sample());
    const auto converter = ConverterFor(*datatype);
    ASSERT_TRUE(converter.ok()) << converter.status();
    std::vector<float> out(4, NAN);
    (*converter)(std::as_bytes(std::span(row.bytes)), out.data());
    EXPECT_THAT(out, ElementsAreArray(row.expected));
  }
}

TEST(ConvertTest, RoundsOnceToTheNearestFloat) {
  const auto datatype = dataplane::ParseDatatype("ri32_le");
  const auto converter = ConverterFor(*datatype);
  ASSERT_TRUE(converter.ok());
  const int32_t value = 0x7fffffff;  // nearest float: 1.0
  float out[2];
  (*converter)(std::as_bytes(std::span(&value, 1)), out);
  EXPECT_EQ(out[0], 1.0f);
}

TEST(ConvertTest, RefusesOtherWidths) {
  const auto converter = ConverterFor({.complex = true, .bits = 12});
  EXPECT_EQ(converter.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::file
