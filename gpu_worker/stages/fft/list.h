// Finds the FFT library of a device.
#pragma once

#include "gpu_worker/stages/fft/fft.h"

namespace tapedeck::gpu_worker::stages::fft {

// FAILED_PRECONDITION (DEVICE_UNUSABLE) where the device has no library. `queue` is one of
// `device`.
absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, const device::Device& device,
                                            device::Queue& queue);

// "FFTW3f", or "no FFT: ..." with the reason.
std::string LibraryFor(const device::Device& device);

}  // namespace tapedeck::gpu_worker::stages::fft
