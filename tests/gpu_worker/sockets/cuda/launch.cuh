// Kernels of programs (blocks.h). For .cu files, each of which names its own with
// TAPEDECK_KERNEL_OF.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "tests/gpu_worker/sockets/blocks.h"

namespace tapedeck::gpu_worker::sockets {

struct GpuRun {
  cudaStream_t stream = nullptr;
};

inline std::string TextOf(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return "";
  return std::string(call) + ": " + cudaGetErrorString(error);
}

template <typename Program>
__global__ void __launch_bounds__(Program::kLanes) ProgramKernel(const Program program) {
  program.RunBlock(blockIdx.x);
}

template <typename Program>
std::string LoadOnGpu() {
  cudaFuncAttributes attributes;
  const cudaError_t chosen = cudaSetDevice(0);
  if (chosen != cudaSuccess) return TextOf(chosen, "cudaSetDevice");
  return TextOf(cudaFuncGetAttributes(&attributes, ProgramKernel<Program>),
                "cudaFuncGetAttributes");
}

template <typename Program>
std::string StartOnGpu(const Program& program, uint32_t blocks, GpuRun** run) {
  cudaStream_t stream = nullptr;
  const cudaError_t made = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (made != cudaSuccess) return TextOf(made, "cudaStreamCreateWithFlags");
  *run = new GpuRun{stream};
  ProgramKernel<Program><<<blocks, Program::kLanes, 0, stream>>>(program);
  return TextOf(cudaGetLastError(), "launch");
}

#define TAPEDECK_KERNEL_OF(Program)          \
  template std::string LoadOnGpu<Program>(); \
  template std::string StartOnGpu<Program>(const Program&, uint32_t, GpuRun**)

}  // namespace tapedeck::gpu_worker::sockets
