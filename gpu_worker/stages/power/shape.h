// How power averages: what its kernel and its host loop share. C++17, for nvcc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tapedeck::gpu_worker::stages::power {

// Bin k of average a is the mean of |sample|^2 over the samples (a * average + t) * points + k,
// t < average.
struct Shape {
  uint32_t points = 1;
  uint32_t average = 1;

  constexpr size_t granule_samples() const { return size_t{points} * average; }
  constexpr size_t granule_bytes() const { return granule_samples() * 2 * sizeof(float); }
};

// Exact but for the sum's rounding, with fused multiply-add or without.
constexpr double Power(float re, float im) {
  return static_cast<double>(re) * re + static_cast<double>(im) * im;
}

}  // namespace tapedeck::gpu_worker::stages::power
