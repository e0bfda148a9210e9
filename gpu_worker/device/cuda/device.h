// A CUDA device. Without CUDA in the build, absent.cc answers in its place.
#pragma once

#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::device::cuda {

// FAILED_PRECONDITION if this machine or build has no such device; the text says which.
absl::StatusOr<std::unique_ptr<Device>> Create(int index);

// Of this machine, as far as CUDA_VISIBLE_DEVICES shows them; the same error if there is none.
absl::StatusOr<int> Count();

}  // namespace tapedeck::gpu_worker::device::cuda
