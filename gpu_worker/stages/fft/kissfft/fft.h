// kissfft on the CPU, for programs that are passed on without the GPL: it is under the BSD licence,
// and slower than FFTW. This room is the build option TAPEDECK_KISSFFT; without it, absent.cc
// answers in its place.
#pragma once

#include "gpu_worker/stages/fft/fft.h"

namespace tapedeck::gpu_worker::stages::fft::kissfft {

// Why this build cannot, if so.
absl::Status Usable();

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::fft::kissfft
