#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/gpu_worker/job/gpu_faults.h"

namespace tapedeck::gpu_worker {
namespace {

__global__ void WriteTo(uint64_t address) { *reinterpret_cast<volatile int*>(address) = 1; }

}  // namespace

void WriteWhereNothingIs() {
  cudaSetDevice(0);
  WriteTo<<<1, 1>>>(16);
}

size_t FreeGpuBytes() {
  size_t free_bytes = 0;
  size_t all_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess) return 0;
  return free_bytes;
}

}  // namespace tapedeck::gpu_worker
