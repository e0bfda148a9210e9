#include "gpu_worker/stages/fft/fftw/fft.h"

namespace tapedeck::gpu_worker::stages::fft::fftw {

absl::Status Usable() {
  return absl::FailedPreconditionError(
      "built without FFTW: build with -DTAPEDECK_FFTW=ON or use a GPU");
}

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& /*plan*/, device::Queue& /*queue*/) {
  return Usable();
}

}  // namespace tapedeck::gpu_worker::stages::fft::fftw
