// The functions of libcufft, found with dlopen. The library stays loaded: CUDA libraries do not
// unload cleanly.
#pragma once

#include <cuda_runtime_api.h>
#include <cufft.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::gpu_worker::stages::fft::cufft {

struct Library {
  decltype(&cufftPlanMany) plan_many = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftExecC2C) exec_c2c = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;
};

// FAILED_PRECONDITION if the library is not on this machine; the text says what was tried.
absl::StatusOr<Library> Load();

absl::Status ToStatus(cufftResult result, absl::string_view call);
absl::Status ToStatus(cudaError_t error, absl::string_view call);

}  // namespace tapedeck::gpu_worker::stages::fft::cufft
