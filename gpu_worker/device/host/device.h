// The CPU as a device: its memory is host memory and its queue runs work at once, on the thread
// that enqueues it.
#pragma once

#include <memory>

#include "gpu_worker/device/device.h"
#include "gpu_worker/device/stream_order.h"

namespace tapedeck::gpu_worker::device::host {

// Always usable; there is only index 0.
absl::StatusOr<std::unique_ptr<Device>> Create(int index);

// Order with streams of the host.
absl::StatusOr<std::unique_ptr<StreamOrder>> NewStreamOrder();

}  // namespace tapedeck::gpu_worker::device::host
