// What stands for kernels (blocks.h) in a build without CUDA. For the files absent*.cc, each of
// which names its programs with TAPEDECK_KERNEL_OF.
#pragma once

#include <cstdint>
#include <string>

#include "tests/gpu_worker/sockets/blocks.h"

namespace tapedeck::gpu_worker::sockets {

template <typename Program>
std::string LoadOnGpu() {
  return "built without CUDA";
}

template <typename Program>
std::string StartOnGpu(const Program&, uint32_t, GpuRun**) {
  return LoadOnGpu<Program>();
}

#define TAPEDECK_KERNEL_OF(Program)          \
  template std::string LoadOnGpu<Program>(); \
  template std::string StartOnGpu<Program>(const Program&, uint32_t, GpuRun**)

}  // namespace tapedeck::gpu_worker::sockets
