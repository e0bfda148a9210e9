// The fft stage: transforms a block's cf32_le samples in runs of `points`.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker::stages::fft {

// INVALID_ARGUMENT (ARGUMENT_INVALID) unless a block holds whole transforms; also the errors of
// Create in list.h. `queue` is the pipeline's.
absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(uint32_t points, size_t block_bytes,
                                                           const device::Device& device,
                                                           device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::fft
