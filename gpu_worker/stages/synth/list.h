// The synth source for each kind of device.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/stage.h"
#include "gpu_worker/stages/synth/waveform.h"

namespace tapedeck::gpu_worker::stages::synth {

// FAILED_PRECONDITION (DEVICE_UNUSABLE) for a kind of device without synth. `device` outlives the
// stage.
absl::StatusOr<std::unique_ptr<SourceStage>> CreateSource(const Waveform& waveform,
                                                          device::Device& device);

}  // namespace tapedeck::gpu_worker::stages::synth
