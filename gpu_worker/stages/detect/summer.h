// The seam to what adds up a band on a device. Rooms host/ and cuda/ implement it; list.h finds the
// one for a device.
#pragma once

#include <cstddef>

#include "absl/status/status.h"

namespace tapedeck::gpu_worker::stages::detect {

// Bound to a pipeline's queue. Used by the thread that enqueues there; everything lies in memory of
// the device.
class Summer {
 public:
  virtual ~Summer() = default;

  // Enqueues the copy of samples that are to be transformed.
  virtual absl::Status Copy(std::byte* to, const std::byte* samples, size_t bytes) = 0;

  // Enqueues the power in the band, of each of `count` transforms that lie one after another.
  virtual absl::Status Sum(const std::byte* spectra, size_t count, float* powers) = 0;
};

}  // namespace tapedeck::gpu_worker::stages::detect
