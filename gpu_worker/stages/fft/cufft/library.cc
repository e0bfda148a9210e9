#include "gpu_worker/stages/fft/cufft/library.h"

#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace tapedeck::gpu_worker::stages::fft::cufft {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(library, name));
  return *out != nullptr;
}

}  // namespace

absl::StatusOr<Library> Load() {
  // The version whose headers this was built with; others may differ in their binary interface.
  const std::string name = absl::StrCat("libcufft.so.", CUFFT_VER_MAJOR);
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* error = handle == nullptr ? dlerror() : nullptr;
  const std::string first_error = error == nullptr ? "" : error;
  // Where NVIDIA's packages put it, often outside the linker's search path.
  if (handle == nullptr) {
    handle = dlopen(absl::StrCat("/usr/local/cuda/lib64/", name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("dlopen of ", name, ": ", first_error,
                     "; install cuFFT or name its folder in LD_LIBRARY_PATH"));
  }
  Library library;
  if (!Find(handle, "cufftPlanMany", &library.plan_many) ||
      !Find(handle, "cufftSetStream", &library.set_stream) ||
      !Find(handle, "cufftExecC2C", &library.exec_c2c) ||
      !Find(handle, "cufftDestroy", &library.destroy)) {
    return absl::FailedPreconditionError(
        absl::StrCat("dlsym in ", name, ": a function is missing"));
  }
  return library;
}

absl::Status ToStatus(cufftResult result, absl::string_view call) {
  if (result == CUFFT_SUCCESS) return absl::OkStatus();
  const std::string text = absl::StrCat(call, ": cufftResult ", static_cast<int>(result));
  return result == CUFFT_ALLOC_FAILED ? absl::ResourceExhaustedError(text)
                                      : absl::InternalError(text);
}

absl::Status ToStatus(cudaError_t error, absl::string_view call) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(call, ": ", cudaGetErrorString(error)));
}

}  // namespace tapedeck::gpu_worker::stages::fft::cufft
