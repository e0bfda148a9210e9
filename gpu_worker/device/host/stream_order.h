// Order with streams of the host.
#pragma once

#include <memory>

#include "gpu_worker/device/stream_order.h"

namespace tapedeck::gpu_worker::device::host {

absl::StatusOr<std::unique_ptr<StreamOrder>> NewStreamOrder();

}  // namespace tapedeck::gpu_worker::device::host
