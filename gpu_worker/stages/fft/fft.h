// The seams to FFT libraries and to what multiplies samples by a window, and those of this build
// for each kind of device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker::stages::fft {

// Any length in this range; those without large prime factors are the fastest.
inline constexpr uint32_t kMinPoints = 2;
inline constexpr uint32_t kMaxPoints = 65536;

// Complex-to-complex, forward, unnormalised, in place, on cf32_le. One plan, bound to a pipeline's
// queue. Used by the thread that enqueues there.
class Fft {
 public:
  virtual ~Fft() = default;

  // Enqueues the first `count` of the transforms that lie one after another at `data`, memory of
  // the device aligned to 64 bytes with room for all of the plan's transforms.
  virtual absl::Status Forward(std::byte* data, size_t count) = 0;
};

// For `transforms` transforms of `points` points at a time, in the range above.
struct Plan {
  uint32_t points = 0;
  size_t transforms = 0;
};

// One that this build and machine have.
struct Library {
  std::string name;  // "FFTW3f"
  absl::StatusOr<std::unique_ptr<Fft>> (*create)(const Plan& plan, device::Queue& queue);
};

// Those that transform on `device`, the fastest first.
std::vector<Library> LibrariesFor(const device::Device& device);

// "FFTW3f", or "no FFT: ..." with the reason.
std::string LibraryFor(const device::Device& device);

// By the first of them. FAILED_PRECONDITION (DEVICE_UNUSABLE) where the device has none. `queue` is
// one of `device`.
absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, const device::Device& device,
                                            device::Queue& queue);

// The weights of one transform, bound to a pipeline's queue. Used by the thread that enqueues
// there. Every device gives the same bits.
class FftWindow {
 public:
  virtual ~FftWindow() = default;

  // Enqueues the multiplication, in place, of the cf32_le samples of `count` transforms that lie
  // one after another at `data`, memory of the device.
  virtual absl::Status Multiply(std::byte* data, size_t count) = 0;
};

// The errors of MakeFor. `device` outlives it.
absl::StatusOr<std::unique_ptr<FftWindow>> CreateFftWindow(const std::vector<float>& weights,
                                                           device::Device& device,
                                                           device::Queue& queue);

// FFTW3f on the CPU. FFTW is under the GPL: it is the build option TAPEDECK_FFTW, and binaries with
// it are under the GPL as a whole.
namespace fftw {

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& queue);

}  // namespace fftw

// kissfft on the CPU, for programs that are passed on without the GPL: it is under the BSD licence,
// and slower than FFTW. It is the build option TAPEDECK_KISSFFT.
namespace kissfft {

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& queue);

}  // namespace kissfft

// On a CUDA device: windows by one kernel per block, transforms by cuFFT. That is loaded when first
// asked for: the binary starts without it, and its 280 MB need not be linked.
namespace cuda {

// Why this machine has no cuFFT, if so.
absl::Status Usable();

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& queue);

absl::StatusOr<std::unique_ptr<FftWindow>> CreateFftWindow(const std::vector<float>& weights,
                                                           device::Device& device,
                                                           device::Queue& queue);

}  // namespace cuda
}  // namespace tapedeck::gpu_worker::stages::fft
