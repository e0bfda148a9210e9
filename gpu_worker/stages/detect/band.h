// Which bins of a transform detect adds up: what its kernel and its host loop share. C++17, for
// nvcc.
#pragma once

#include <cstdint>

namespace tapedeck::gpu_worker::stages::detect {

struct Band {
  uint32_t points = 0;  // of a transform
  uint32_t first = 0;   // bin; those behind it follow, after the last one bin 0
  uint32_t bins = 0;    // 1 to points
  double scale = 1;     // of the sum of their |X|^2

  constexpr uint32_t Bin(uint32_t i) const {
    const uint32_t bin = first + i;
    return bin < points ? bin : bin - points;
  }
};

}  // namespace tapedeck::gpu_worker::stages::detect
