// The seam to what multiplies samples by a window on a device. Rooms host/ and cuda/ implement it
// and agree bit for bit; list.h finds the one for a device.
#pragma once

#include <cstddef>

#include "absl/status/status.h"

namespace tapedeck::gpu_worker::stages::fft {

// The weights of one transform, bound to a pipeline's queue. Used by the thread that enqueues
// there.
class Weigher {
 public:
  virtual ~Weigher() = default;

  // Enqueues the multiplication, in place, of the cf32_le samples of `count` transforms that lie
  // one after another at `data`, memory of the device.
  virtual absl::Status Multiply(std::byte* data, size_t count) = 0;
};

}  // namespace tapedeck::gpu_worker::stages::fft
