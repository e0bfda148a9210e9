// The synth source on the CPU: computes on the work thread.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/stage.h"
#include "gpu_worker/stages/synth/waveform.h"

namespace tapedeck::gpu_worker::stages::synth::host {

absl::StatusOr<std::unique_ptr<SourceStage>> CreateSource(const Waveform& waveform,
                                                          device::Device& device);

}  // namespace tapedeck::gpu_worker::stages::synth::host
