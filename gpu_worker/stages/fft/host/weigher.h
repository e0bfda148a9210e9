// Windows on the CPU.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/fft/weigher.h"

namespace tapedeck::gpu_worker::stages::fft::host {

absl::StatusOr<std::unique_ptr<Weigher>> CreateWeigher(const std::vector<float>& weights,
                                                       device::Device& device,
                                                       device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::fft::host
