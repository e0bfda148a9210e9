// The power stage: |X|^2 of cf32_le samples, averaged bin by bin over `average` transforms that
// follow each other, as rf32_le. Sums are in double precision and in order, so that every device
// gives the same bits; a sample that is not a number makes its bin none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::power {

inline constexpr char kName[] = "power";
inline constexpr uint32_t kMostPoints = 65536;
inline constexpr uint32_t kMostAverage = 65536;

struct Parameters {
  uint32_t points = 0;  // of each transform, 1 to kMostPoints; 1: neighbouring samples are averaged
  uint32_t average = 1;  // transforms that make one, 1 to kMostAverage
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);

Description Describe(const Parameters& parameters);

// What Describe has told. INVALID_ARGUMENT (ARGUMENT_INVALID) if one is missing or damaged.
absl::StatusOr<Parameters> FromOrigin(const TextParameters& parameters);

// INVALID_ARGUMENT (ARGUMENT_INVALID) unless a block holds whole averages; also the errors of
// MakeFor.
absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformSetup& setup);

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

namespace cuda {

// One kernel per block. `queue` is one of the device.
absl::StatusOr<std::unique_ptr<Transform>> Create(const Shape& shape, device::Queue& queue);

}  // namespace cuda
}  // namespace tapedeck::gpu_worker::stages::power
