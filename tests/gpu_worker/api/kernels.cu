#include "tests/gpu_worker/api/kernels.h"

namespace tapedeck::gpu_worker::api {
namespace {

constexpr unsigned kGroups = 64;
constexpr unsigned kThreads = 256;
constexpr uint64_t kStep = 1'000'003;

__device__ size_t Thread() { return size_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ size_t Threads() { return size_t{gridDim.x} * blockDim.x; }

__global__ void Fill(uint64_t* words, size_t count, uint64_t number) {
  for (size_t i = Thread(); i < count; i += Threads()) words[i] = number * kStep + i;
}

__global__ void FillNext(uint64_t* words, size_t count, const uint64_t* number) {
  for (size_t i = Thread(); i < count; i += Threads()) words[i] = *number * kStep + i;
}

__global__ void CountOn(uint64_t* number) { ++*number; }

__global__ void Check(const uint64_t* words, const BlockInfo* info, Seen* seen) {
  if (info->state != BlockInfo::kBlock) {
    if (Thread() == 0) atomicAdd(&seen->ends, 1ull);
    return;
  }
  if (Thread() == 0) atomicAdd(&seen->blocks, 1ull);
  for (size_t i = Thread(); i < info->bytes / sizeof(uint64_t); i += Threads()) {
    if (words[i] != info->number * kStep + i) atomicAdd(&seen->wrong, 1ull);
  }
}

constexpr int64_t kPatienceNs = 10'000'000'000;
// Each copies its blocks over the bus by itself.
constexpr unsigned kRecorders = 16;

__global__ void __launch_bounds__(512) Record(KernelChannel channel, const uint32_t* stop) {
  while (gpu_worker::sockets::FromFirstLane(
             threadIdx.x == 0 ? gpu_worker::sockets::LoadAcquire(stop) : 0) == 0) {
    void* data = nullptr;
    const int64_t block = gacquire(channel, &data, kPatienceNs);
    if (block < 0) return;
    auto* const words = static_cast<uint64_t*>(data);
    for (size_t i = threadIdx.x; i < channel.block_bytes / sizeof(uint64_t); i += blockDim.x) {
      words[i] = uint64_t(block) * kStep + i;
    }
    gpu_worker::sockets::SyncBlock();
    gcommit(channel, block, channel.block_bytes);
  }
}

}  // namespace

void LaunchRecord(const KernelChannel& channel, const uint32_t* stop, cudaStream_t stream) {
  Record<<<kRecorders, 512, 0, stream>>>(channel, stop);
}

cudaError_t LoadRecord() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, Record);
}

void LaunchFill(void* data, size_t bytes, uint64_t number, cudaStream_t stream) {
  Fill<<<kGroups, kThreads, 0, stream>>>(static_cast<uint64_t*>(data), bytes / sizeof(uint64_t),
                                         number);
}

void LaunchFillNext(void* data, size_t bytes, uint64_t* number, cudaStream_t stream) {
  FillNext<<<kGroups, kThreads, 0, stream>>>(static_cast<uint64_t*>(data), bytes / sizeof(uint64_t),
                                             number);
  CountOn<<<1, 1, 0, stream>>>(number);
}

void LaunchCheck(const void* data, const BlockInfo* info, Seen* seen, cudaStream_t stream) {
  Check<<<kGroups, kThreads, 0, stream>>>(static_cast<const uint64_t*>(data), info, seen);
}

}  // namespace tapedeck::gpu_worker::api
