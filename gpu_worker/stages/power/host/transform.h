// Power on the CPU: computes on the work thread.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/power/shape.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker::stages::power::host {

absl::StatusOr<std::unique_ptr<Transform>> Create(const Shape& shape, device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::power::host
