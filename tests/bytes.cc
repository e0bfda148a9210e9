#include "tests/bytes.h"

#include <algorithm>
#include <cstring>

namespace tapedeck {

bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

void PutBytes(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

bool AllAre(std::byte value, std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [value](std::byte byte) { return byte == value; });
}

void FillRandom(uint64_t seed, std::span<std::byte> bytes) {
  uint64_t state = seed;
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    uint64_t value = state += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    value ^= value >> 31;
    std::memcpy(bytes.data() + i, &value, 8);
  }
}

std::vector<std::byte> RandomBytes(uint64_t seed, size_t bytes) {
  std::vector<std::byte> random(bytes);
  FillRandom(seed, random);
  return random;
}

void FillCounted(uint64_t first, std::span<std::byte> bytes) {
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const uint64_t value = first + i;
    std::memcpy(bytes.data() + i, &value, 8);
  }
}

}  // namespace tapedeck
