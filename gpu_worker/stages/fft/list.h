// Finds the FFT library of a device, and what weighs there.
#pragma once

#include <vector>

#include "gpu_worker/stages/fft/fft.h"
#include "gpu_worker/stages/fft/weigher.h"

namespace tapedeck::gpu_worker::stages::fft {

// One that this build and machine have.
struct Library {
  std::string name;  // "FFTW3f"
  absl::StatusOr<std::unique_ptr<Fft>> (*create)(const Plan& plan, device::Queue& queue);
};

// Those that transform on `device`, the fastest first.
std::vector<Library> LibrariesFor(const device::Device& device);

// By the first of them. FAILED_PRECONDITION (DEVICE_UNUSABLE) where the device has none. `queue` is
// one of `device`.
absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, const device::Device& device,
                                            device::Queue& queue);

// FAILED_PRECONDITION (DEVICE_UNUSABLE) for a kind of device without one. `device` outlives it.
absl::StatusOr<std::unique_ptr<Weigher>> CreateWeigher(const std::vector<float>& weights,
                                                       device::Device& device,
                                                       device::Queue& queue);

// "FFTW3f", or "no FFT: ..." with the reason.
std::string LibraryFor(const device::Device& device);

}  // namespace tapedeck::gpu_worker::stages::fft
