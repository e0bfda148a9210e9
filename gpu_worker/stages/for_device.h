// Which sources of a stage this build has, and which of them serves a device. No state; any thread.
#pragma once

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/device/unusable.h"

namespace tapedeck::gpu_worker::stages {

// The build's options. CMake leaves out the sources of an option that is off.
inline constexpr bool kWithCuda = TAPEDECK_CUDA;
inline constexpr bool kWithFftw = TAPEDECK_FFTW;
inline constexpr bool kWithKissfft = TAPEDECK_KISSFFT;

// `kFunction`, or null where the build leaves out its source.
template <bool kBuilt, auto kFunction>
constexpr decltype(kFunction) IfBuilt() {
  if constexpr (kBuilt) {
    return kFunction;
  } else {
    return nullptr;
  }
}

// Calls the function of a stage's host.cc or cuda.cu, by the kind of `device`. FAILED_PRECONDITION
// (DEVICE_UNUSABLE) for another kind, and for CUDA in a build without it.
template <auto kHost, auto kCuda, typename... Parts>
auto MakeFor(const device::Device& device, absl::string_view stage, Parts&&... parts)
    -> decltype(kHost(std::forward<Parts>(parts)...)) {
  const device::DeviceInfo& info = device.info();
  if (info.kind == "host") return kHost(std::forward<Parts>(parts)...);
  if (info.kind != "cuda") {
    return device::Unusable(info.description,
                            absl::StrCat(stage, ": none for devices of kind ", info.kind));
  }
  if constexpr (kWithCuda) {
    return kCuda(std::forward<Parts>(parts)...);
  } else {
    return device::Unusable(info.description, absl::StrCat(stage, ": built without CUDA"));
  }
}

}  // namespace tapedeck::gpu_worker::stages
