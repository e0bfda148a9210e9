// CRC32C in parallel: the arithmetic that the kernels and their test share. C++17, for nvcc.
//
// A CRC register is a polynomial over GF(2) modulo the Castagnoli polynomial, bits reversed: the
// top bit is x^0. Consuming a little-endian word w in state s gives (s ^ w) * x^32, so the register
// after a message is the sum, over its words, of w * x^(8 * bytes from the word's start to the
// end). The sum is cut between threads: thread t takes the 16-byte words t, t + kThreads, ..., so
// that neighbours read neighbours, and multiplies its sum by x^(8 * stride) from one to the next.
// At last it multiplies that by the weight of its place, and the sums of all threads are added up,
// which is to say XORed, in any order.
//
// Multiplying by a number that is known before is linear: one look-up for each byte of the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu_worker/device/anywhere.h"

namespace tapedeck::gpu_worker::device::crc {

inline constexpr uint32_t kGroups = 64;
inline constexpr uint32_t kGroupThreads = 256;
inline constexpr uint32_t kThreads = kGroups * kGroupThreads;

struct alignas(16) Word {
  uint32_t lane[4];
};
inline constexpr uint32_t kStrideBytes = kThreads * sizeof(Word);

inline constexpr uint32_t kPolynomial = 0x82f63b78;
inline constexpr uint32_t kOne = 0x80000000;  // x^0

// a * b.
TAPEDECK_ANYWHERE constexpr uint32_t Multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = kOne; bit != 0 && a != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    a &= ~bit;
    b = (b & 1) != 0 ? (b >> 1) ^ kPolynomial : b >> 1;
  }
  return product;
}

// x^(8 * bytes): what a register is multiplied by when that many zero bytes follow.
TAPEDECK_ANYWHERE constexpr uint32_t Shift(uint64_t bytes) {
  uint32_t power = kOne;
  uint32_t square = kOne >> 8;  // x^8
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) power = Multiply(power, square);
    square = Multiply(square, square);
  }
  return power;
}

// The register after `bytes` bytes from state `state`, one by one.
TAPEDECK_ANYWHERE constexpr uint32_t Consume(uint32_t state, const unsigned char* bytes,
                                             size_t count) {
  for (size_t i = 0; i < count; ++i) {
    state ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit)
      state = (state & 1) != 0 ? (state >> 1) ^ kPolynomial : state >> 1;
  }
  return state;
}

// A factor as look-ups.
struct Factor {
  uint32_t of[4][256];
};
TAPEDECK_ANYWHERE constexpr uint32_t Multiply(const Factor& factor, uint32_t value) {
  return factor.of[0][value & 255] ^ factor.of[1][value >> 8 & 255] ^
         factor.of[2][value >> 16 & 255] ^ factor.of[3][value >> 24];
}

// What is computed once. One entry of each array for each thread.
struct Tables {
  Factor stride;               // x^(8 * kStrideBytes): a row of words
  Factor lane;                 // x^32
  uint32_t weights[kThreads];  // x^(8 * bytes of the row behind a thread's word)
};

// The entry of a factor: entry `index` of 4 * 256.
TAPEDECK_ANYWHERE constexpr uint32_t FactorEntry(uint32_t factor, uint32_t index) {
  return Multiply((index % 256) << (8 * (index / 256)), factor);
}
TAPEDECK_ANYWHERE constexpr uint32_t Weight(uint32_t thread) {
  return Shift(sizeof(Word) * uint64_t{kThreads - 1 - thread});
}

// What thread `thread` adds for its share of `count` words, as a register after the last word of
// its row. The rows end with the message, so that the first may be short.
TAPEDECK_ANYWHERE constexpr uint32_t ThreadSum(const Word* words, int64_t count, uint32_t thread,
                                               const Factor& stride, const Factor& by_lane) {
  Word sum{};
  const int64_t short_by = (kThreads - count % kThreads) % kThreads;
  for (int64_t i = thread - short_by; i < count; i += kThreads) {
    if (i < 0) continue;
    Word word = words[i];
    if (i == 0) word.lane[0] = ~word.lane[0];  // CRC32C starts with a register of ones
    for (int lane = 0; lane < 4; ++lane) {
      sum.lane[lane] = Multiply(stride, sum.lane[lane]) ^ word.lane[lane];
    }
  }
  uint32_t state = 0;
  for (const uint32_t lane : sum.lane) state = Multiply(by_lane, state ^ lane);
  return state;
}

}  // namespace tapedeck::gpu_worker::device::crc
