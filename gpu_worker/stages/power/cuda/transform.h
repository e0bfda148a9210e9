// Power on a CUDA device: one kernel per block. Without CUDA in the build, absent.cc answers in its
// place.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/power/shape.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker::stages::power::cuda {

absl::StatusOr<std::unique_ptr<Transform>> Create(const Shape& shape, device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::power::cuda
