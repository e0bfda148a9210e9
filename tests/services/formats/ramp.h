// Samples of ci16_le that count, and what must come of a file with some of them: any shift, loss or
// doubling shows.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "services/formats/io/reader.h"
#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {

// Sample k is k mod 2^15, k >> 15.
inline std::string Ramp(uint64_t samples, uint64_t first = 0) {
  std::string text;
  for (uint64_t k = first; k < first + samples; ++k) {
    for (const uint64_t part : {k & 0x7fff, k >> 15 & 0x7fff}) {
      text.push_back(static_cast<char>(part));
      text.push_back(static_cast<char>(part >> 8));
    }
  }
  return text;
}

inline void ExpectRamp(const absl::StatusOr<std::unique_ptr<Reader>>& reader, uint64_t samples) {
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->content().datatype, "ci16_le");
  const auto read = ReadAll(**reader);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->size(), samples * 4);
  EXPECT_TRUE(*read == Ramp(samples));
}

// What the refusal says.
inline std::string RefusalOf(const absl::StatusOr<std::unique_ptr<Reader>>& reader) {
  EXPECT_EQ(ReasonIn(reader.status()), "FILE_INVALID");
  return std::string(reader.status().message());
}

}  // namespace tapedeck::services::formats
