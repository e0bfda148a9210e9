// Conversions on the CPU: on the work thread.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker::stages::convert::host {

absl::StatusOr<std::unique_ptr<Transform>> Create(const dataplane::Datatype& from,
                                                  const dataplane::Datatype& to,
                                                  device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::convert::host
