#include "tests/bytes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tapedeck {
namespace {

// Each whole 8 bytes are what the next call of `next` returns. With a sanitizer one long copy costs
// less than many short ones.
template <typename Next>
void FillWords(std::span<std::byte> bytes, Next next) {
  std::array<uint64_t, 64> words;
  const size_t whole = bytes.size() / 8;
  for (size_t i = 0; i < whole; i += words.size()) {
    for (uint64_t& word : words) word = next();
    std::memcpy(bytes.data() + i * 8, words.data(), std::min(words.size(), whole - i) * 8);
  }
}

}  // namespace

bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

void PutBytes(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

bool AllAre(std::byte value, std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == value && SameBytes(bytes.subspan(1), bytes.first(bytes.size() - 1)));
}

void FillRandom(uint64_t seed, std::span<std::byte> bytes) {
  FillWords(bytes, [state = seed]() mutable {
    uint64_t value = state += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
  });
}

std::vector<std::byte> RandomBytes(uint64_t seed, size_t bytes) {
  std::vector<std::byte> random(bytes);
  FillRandom(seed, random);
  return random;
}

void FillCounted(uint64_t first, std::span<std::byte> bytes) {
  FillWords(bytes, [next = first]() mutable {
    const uint64_t value = next;
    next += 8;
    return value;
  });
}

}  // namespace tapedeck
