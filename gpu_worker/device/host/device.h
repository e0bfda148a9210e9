// The CPU as a device: its memory is host memory and its queue runs work at once, on the thread
// that enqueues it.
#pragma once

#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::device::host {

// Always usable; there is only index 0.
absl::StatusOr<std::unique_ptr<Device>> Create(int index);

}  // namespace tapedeck::gpu_worker::device::host
