// Numbers in the other order of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace tapedeck::services::formats {

// Turns each number of `part` bytes round.
inline void SwapBytes(std::span<std::byte> numbers, size_t part) {
  for (; numbers.size() >= part; numbers = numbers.subspan(part)) {
    std::ranges::reverse(numbers.first(part));
  }
}

}  // namespace tapedeck::services::formats
