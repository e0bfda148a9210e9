// The convert transform for each kind of device.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker::stages::convert {

// FAILED_PRECONDITION (DEVICE_UNUSABLE) for a kind of device without one. `queue` is one of
// `device`.
absl::StatusOr<std::unique_ptr<Transform>> Create(const dataplane::Datatype& from,
                                                  const dataplane::Datatype& to,
                                                  const device::Device& device,
                                                  device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::convert
