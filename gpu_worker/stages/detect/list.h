// The summer for each kind of device.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/detect/band.h"
#include "gpu_worker/stages/detect/summer.h"

namespace tapedeck::gpu_worker::stages::detect {

// FAILED_PRECONDITION (DEVICE_UNUSABLE) for a kind of device without one. `queue` is one of
// `device`.
absl::StatusOr<std::unique_ptr<Summer>> CreateSummer(const Band& band, const device::Device& device,
                                                     device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::detect
