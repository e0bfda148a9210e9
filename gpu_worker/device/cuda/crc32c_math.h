// CRC32C in parallel: the arithmetic that the kernel and its test share. C++17, for nvcc.
//
// A CRC register is a polynomial over GF(2) modulo the Castagnoli polynomial, bits reversed: the
// top bit is x^0. Consuming a little-endian word w in state s gives (s ^ w) * x^32, so the register
// after a message is the sum, over its words, of w * x^(8 * bytes from the word's start to the
// end). The sum is cut between threads: thread t takes the 16-byte words t, t + kThreads, ..., so
// that neighbours read neighbours, and multiplies its sum by x^(8 * stride) from one to the next.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tapedeck::gpu_worker::device::cuda::crc {

inline constexpr uint32_t kGroups = 32;
inline constexpr uint32_t kGroupThreads = 256;
inline constexpr uint32_t kThreads = kGroups * kGroupThreads;

struct alignas(16) Word {
  uint32_t lane[4];
};
inline constexpr uint32_t kStrideBytes = kThreads * sizeof(Word);

inline constexpr uint32_t kPolynomial = 0x82f63b78;
inline constexpr uint32_t kOne = 0x80000000;  // x^0

// a * b.
constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = kOne; bit != 0 && a != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    a &= ~bit;
    b = (b & 1) != 0 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

// x^(8 * bytes): what a register is multiplied by when that many zero bytes follow.
constexpr uint32_t Shift(uint64_t bytes) {
  uint32_t power = kOne;
  uint32_t square = kOne >> 8;  // x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) power = Multiply(power, square);
    square = Multiply(square, square);
  }
  return power;
}

// The register after `bytes` bytes from state `state`, one by one.
constexpr uint32_t Consume(uint32_t state, const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    state ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit)
      state = (state & 1) != 0 ? (state >> 1) ^ kPolynomial : state >> 1;
  }
  return state;
}

// What thread `thread` adds for its share of `count` words, as a register after the last word of
// its row. `stride` multiplies a register by x^(8 * kStrideBytes). The rows end with the message,
// so that the first may be short.
template <typename Stride>
constexpr uint32_t ThreadSum(const Word* words, int64_t count, uint32_t thread, Stride stride) {
  Word sum{};
  const int64_t short_by = (kThreads - count % kThreads) % kThreads;
  for (int64_t i = thread - short_by; i < count; i += kThreads) {
    if (i < 0) continue;
    Word word = words[i];
    if (i == 0) word.lane[0] = ~word.lane[0];  // CRC32C starts with a register of ones
    for (int lane = 0; lane < 4; ++lane) sum.lane[lane] = stride(sum.lane[lane]) ^ word.lane[lane];
  }
  constexpr uint32_t kLane = Shift(4);
  uint32_t state = 0;
  for (const uint32_t lane : sum.lane) state = Multiply(kLane, state ^ lane);
  return state;
}

// What sums are multiplied by when they are put together.
struct Shifts {
  uint32_t level[8];        // the left one of two neighbours of 2^level threads each
  uint32_t group[kGroups];  // a group's: the groups behind it follow
};
constexpr Shifts MakeShifts() {
  Shifts shifts{};
  shifts.level[0] = Shift(sizeof(Word));
  for (int i = 1; i < 8; ++i) {
    shifts.level[i] = Multiply(shifts.level[i - 1], shifts.level[i - 1]);
  }
  constexpr uint32_t kGroup = Shift(kGroupThreads * sizeof(Word));
  shifts.group[kGroups - 1] = kOne;
  for (uint32_t i = kGroups - 1; i > 0; --i) {
    shifts.group[i - 1] = Multiply(shifts.group[i], kGroup);
  }
  return shifts;
}

}  // namespace tapedeck::gpu_worker::device::cuda::crc
