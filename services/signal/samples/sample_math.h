// Samples of SigMF's types as numbers: the arithmetic that the loops of the host and the kernels of
// a GPU share, so that they give the same. C++17, for nvcc.
//
// Full scale of an integer is 1.0: a signed n of b bits is n / 2^(b-1), an unsigned one
// (n - 2^(b-1)) / 2^(b-1), as SigMF-Python has it. Towards integers a number is rounded to the
// nearest, ties to the even one; what is beyond their range becomes their largest or smallest, and
// what is not a number becomes 0.
#pragma once

#include <cstdint>

namespace tapedeck::services::samples {

template <typename Word>
constexpr Word Swapped(Word word) {
  uint64_t out = 0;
  for (unsigned byte = 0; byte < sizeof(Word); ++byte) {
    out = out << 8 | (static_cast<uint64_t>(word) >> (8 * byte) & 0xff);
  }
  return static_cast<Word>(out);
}

constexpr double HalfRange(int bits) { return static_cast<double>(uint32_t{1} << (bits - 1)); }

// An unsigned number of so many bits, its middle at 0; and back.
constexpr int32_t Centred(uint32_t number, int bits) {
  return static_cast<int32_t>(number - (uint32_t{1} << (bits - 1)));
}
constexpr uint32_t Uncentred(int32_t number, int bits) {
  return static_cast<uint32_t>(number) + (uint32_t{1} << (bits - 1));
}

// Exact.
constexpr double FromFullScale(int32_t number, int bits) {
  return static_cast<double>(number) / HalfRange(bits);
}

constexpr int32_t ToFullScale(double value, int bits) {
  const double half = HalfRange(bits);
  const double scaled = value * half;
  if (scaled != scaled) return 0;
  if (scaled >= half - 1) return static_cast<int32_t>(half - 1);
  if (scaled <= -half) return static_cast<int32_t>(-half);
  // A number so large that the sum has no fraction: adding rounds as said above.
  constexpr double kWhole = 6755399441055744.0;  // 1.5 * 2^52
  return static_cast<int32_t>((scaled + kWhole) - kWhole);
}

}  // namespace tapedeck::services::samples
