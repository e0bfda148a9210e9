// The seam to FFT libraries: complex-to-complex, forward, unnormalised, in place, on cf32_le.
// Rooms fftw/ and kissfft/ (host) and cufft/ (CUDA) implement it; list.h finds the one for a
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::stages::fft {

// Any length in this range; those without large prime factors are the fastest.
inline constexpr uint32_t kMinPoints = 2;
inline constexpr uint32_t kMaxPoints = 65536;

// One plan, bound to a pipeline's queue. Used by the thread that enqueues there.
class Fft {
 public:
  virtual ~Fft() = default;

  // Enqueues the first `count` of the transforms that lie one after another at `data`, memory of
  // the device aligned to 64 bytes with room for all of the plan's transforms.
  virtual absl::Status Forward(std::byte* data, size_t count) = 0;
};

// For `transforms` transforms of `points` points at a time, in the range above.
struct Plan {
  uint32_t points = 0;
  size_t transforms = 0;
};

}  // namespace tapedeck::gpu_worker::stages::fft
