// The synth source on a CUDA device: one kernel per block. Without CUDA in the build, absent.cc
// answers in its place.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/stages/stage.h"
#include "gpu_worker/stages/synth/waveform.h"

namespace tapedeck::gpu_worker::stages::synth::cuda {

absl::StatusOr<std::unique_ptr<SourceStage>> CreateSource(const Waveform& waveform,
                                                          device::Device& device);

}  // namespace tapedeck::gpu_worker::stages::synth::cuda
