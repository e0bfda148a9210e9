// Conversions on a CUDA device: one kernel per block. Without CUDA in the build, absent.cc answers
// in its place.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker::stages::convert::cuda {

absl::StatusOr<std::unique_ptr<Transform>> Create(const dataplane::Datatype& from,
                                                  const dataplane::Datatype& to,
                                                  device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::convert::cuda
