#include "gpu_worker/stages/fft/cufft/fft.h"

namespace tapedeck::gpu_worker::stages::fft::cufft {

absl::Status Usable() { return absl::FailedPreconditionError("built without CUDA"); }

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& /*plan*/, device::Queue& /*queue*/) {
  return Usable();
}

}  // namespace tapedeck::gpu_worker::stages::fft::cufft
