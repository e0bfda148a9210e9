// Sums on a CUDA device: one kernel per block. Without CUDA in the build, absent.cc answers in its
// place.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/detect/band.h"
#include "gpu_worker/stages/detect/summer.h"

namespace tapedeck::gpu_worker::stages::detect::cuda {

absl::StatusOr<std::unique_ptr<Summer>> Create(const Band& band, device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::detect::cuda
