#include <cuda_runtime_api.h>

#include "tests/gpu_worker/sockets/blocks.h"

namespace tapedeck::gpu_worker::sockets {

struct GpuRun {
  cudaStream_t stream = nullptr;
};

namespace {

constexpr uint32_t kLanes = 128;

__global__ void ProgramKernel(Program program, const Args args) { Run(program, args); }

std::string TextOf(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return "";
  return std::string(call) + ": " + cudaGetErrorString(error);
}

}  // namespace

std::string LoadOnGpu() {
  cudaFuncAttributes attributes;
  const cudaError_t chosen = cudaSetDevice(0);
  if (chosen != cudaSuccess) return TextOf(chosen, "cudaSetDevice");
  return TextOf(cudaFuncGetAttributes(&attributes, ProgramKernel), "cudaFuncGetAttributes");
}

std::string StartOnGpu(Program program, const Args& args, uint32_t blocks, GpuRun** run) {
  cudaStream_t stream = nullptr;
  const cudaError_t made = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (made != cudaSuccess) return TextOf(made, "cudaStreamCreateWithFlags");
  *run = new GpuRun{stream};
  ProgramKernel<<<blocks, kLanes, 0, stream>>>(program, args);
  return TextOf(cudaGetLastError(), "launch");
}

std::string JoinGpu(GpuRun* run) {
  const std::string error = TextOf(cudaStreamSynchronize(run->stream), "cudaStreamSynchronize");
  cudaStreamDestroy(run->stream);
  delete run;
  return error;
}

}  // namespace tapedeck::gpu_worker::sockets
