// The stages of this build: the one place that knows them all. A new one adds its folder and a line
// in list.cc.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "services/model/words/stage_spec.h"

namespace tapedeck::gpu_worker::stages {

// Reads a spec's parameters; makes and opens nothing. INVALID_ARGUMENT (ARGUMENT_INVALID): there is
// no such stage, which the error says with the nearest; or the errors of ParameterReader.
absl::StatusOr<ChosenSource> ChooseSource(const services::StageSpec& spec);
absl::StatusOr<ChosenTransform> ChooseTransform(const services::StageSpec& spec);
absl::StatusOr<ChosenSink> ChooseSink(const services::StageSpec& spec);

// "source file", "transform fft", "sink null".
std::vector<std::string> Names();

// What stages compute with on the device, e.g. "FFTW3f", or why they cannot.
std::string LibraryFor(const device::Device& device);

}  // namespace tapedeck::gpu_worker::stages
