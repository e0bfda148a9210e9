// A CUDA device. Without CUDA in the build, absent.cc answers in its place.
#pragma once

#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::device::cuda {

// FAILED_PRECONDITION if this machine or build has no such device; the text says which.
absl::StatusOr<std::unique_ptr<Device>> Create(int index);

}  // namespace tapedeck::gpu_worker::device::cuda
