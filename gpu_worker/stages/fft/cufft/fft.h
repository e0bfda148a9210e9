// cuFFT on a CUDA device, loaded when first asked for: the binary starts without it, and its 280 MB
// need not be linked. Without CUDA in the build, absent.cc answers in its place.
#pragma once

#include "gpu_worker/stages/fft/fft.h"

namespace tapedeck::gpu_worker::stages::fft::cufft {

// Why this machine or build cannot, if so.
absl::Status Usable();

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& queue);

}  // namespace tapedeck::gpu_worker::stages::fft::cufft
