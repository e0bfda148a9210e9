// FFTW3f on the CPU. FFTW is under the GPL: this room is the build option TAPEDECK_FFTW, and
// binaries with it are under the GPL as a whole. Without it, absent.cc answers in its place.
#pragma once

#include "gpu_worker/stages/fft/fft.h"

namespace tapedeck::gpu_worker::stages::fft::fftw {

// Why this build cannot, if so.
absl::Status Usable();

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::fft::fftw
