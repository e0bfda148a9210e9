// What the tests and the bench of the library run on a GPU. C++17, for nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu_worker/api/include/tapedeck/kernel_channel.h"
#include "gpu_worker/api/include/tapedeck/slot.h"

namespace tapedeck::gpu_worker::api {

// Word `i` of block `number` is number * 1'000'003 + i, as SlotFixture::WordOf has it.
void LaunchFill(void* data, size_t bytes, uint64_t number, cudaStream_t stream);
// The same, where each launch is of the next block: counts *number on.
void LaunchFillNext(void* data, size_t bytes, uint64_t* number, cudaStream_t stream);

// One kernel that records such blocks until *stop, in host memory, is not zero.
void LaunchRecord(const KernelChannel& channel, const uint32_t* stop, cudaStream_t stream);
// Loads it, as a launch may otherwise wait for kernels that run.
cudaError_t LoadRecord();

struct Seen {
  unsigned long long blocks;
  unsigned long long ends;
  unsigned long long wrong;  // words
};
void LaunchCheck(const void* data, const BlockInfo* info, Seen* seen, cudaStream_t stream);

}  // namespace tapedeck::gpu_worker::api
