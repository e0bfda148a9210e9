#include "gpu_worker/stages/fft/kissfft/fft.h"

namespace tapedeck::gpu_worker::stages::fft::kissfft {

absl::Status Usable() {
  return absl::FailedPreconditionError(
      "built without kissfft: build with -DTAPEDECK_KISSFFT=ON or use a GPU");
}

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& /*plan*/, device::Queue& /*queue*/) {
  return Usable();
}

}  // namespace tapedeck::gpu_worker::stages::fft::kissfft
