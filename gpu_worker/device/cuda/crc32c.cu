#include "gpu_worker/device/cuda/crc32c.h"

namespace tapedeck::gpu_worker::device::cuda {
namespace {

using crc::kGroups;
using crc::kGroupThreads;
using crc::Multiply;
using crc::Word;

constexpr uint32_t kWarp = 32;
constexpr uint32_t kWarps = kGroupThreads / kWarp;
constexpr uint32_t kWholeWarp = 0xffffffff;

__constant__ crc::Shifts shifts = crc::MakeShifts();

// Multiplication of a register by x^(8 * stride), by tables: linear, so one look-up per byte.
struct StrideTables {
  uint32_t of[4][256];
};

__device__ void MakeTables(StrideTables& tables) {
  constexpr uint32_t kStride = crc::Shift(crc::kStrideBytes);
  for (uint32_t byte = 0; byte < 4; ++byte) {
    tables.of[byte][threadIdx.x] = Multiply(threadIdx.x << (8 * byte), kStride);
  }
  __syncthreads();
}

// The sum of 2^kLevels neighbouring sums, in the first thread of a warp; each is already that of
// 2^kFirstLevel threads.
template <uint32_t kFirstLevel, uint32_t kLevels>
__device__ uint32_t WarpSum(uint32_t sum) {
#pragma unroll
  for (uint32_t level = 0; level < kLevels; ++level) {
    const uint32_t right = __shfl_down_sync(kWholeWarp, sum, 1u << level);
    sum = Multiply(shifts.level[kFirstLevel + level], sum) ^ right;
  }
  return sum;
}

// The sum of a group, in its thread 0.
__device__ uint32_t GroupSum(uint32_t sum) {
  __shared__ uint32_t warp_sums[kWarps];
  sum = WarpSum<0, 5>(sum);
  if (threadIdx.x % kWarp == 0) warp_sums[threadIdx.x / kWarp] = sum;
  __syncthreads();
  if (threadIdx.x >= kWarp) return 0;
  return WarpSum<5, 3>(threadIdx.x < kWarps ? warp_sums[threadIdx.x] : 0);
}

// kGroups groups of kGroupThreads threads. Each group leaves its sum; the last one adds them up.
__global__ void Crc32cKernel(const unsigned char* payload, size_t bytes, Crc32cScratch* scratch,
                             uint32_t* out) {
  __shared__ StrideTables tables;
  MakeTables(tables);
  const auto stride = [](uint32_t s) {
    return tables.of[0][s & 255] ^ tables.of[1][s >> 8 & 255] ^ tables.of[2][s >> 16 & 255] ^
           tables.of[3][s >> 24];
  };
  const size_t words = bytes / sizeof(Word);
  const uint32_t thread = blockIdx.x * kGroupThreads + threadIdx.x;
  const uint32_t sum = GroupSum(crc::ThreadSum(reinterpret_cast<const Word*>(payload),
                                               static_cast<int64_t>(words), thread, stride));
  __shared__ bool last;
  if (threadIdx.x == 0) {
    scratch->group_sums[blockIdx.x] = Multiply(shifts.group[blockIdx.x], sum);
    __threadfence();
    last = atomicInc(&scratch->groups_done, kGroups - 1) == kGroups - 1;  // back to 0 at the last
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  __threadfence();
  uint32_t state = words == 0 ? ~0u : 0;
  for (uint32_t group = 0; group < kGroups; ++group) {
    state ^= __ldcg(&scratch->group_sums[group]);
  }
  const size_t whole = words * sizeof(Word);
  *out = ~crc::Consume(state, payload + whole, bytes - whole);
}

}  // namespace

cudaError_t LaunchCrc32c(const void* payload, size_t bytes, Crc32cScratch* scratch, uint32_t* crc,
                         cudaStream_t stream) {
  Crc32cKernel<<<kGroups, kGroupThreads, 0, stream>>>(static_cast<const unsigned char*>(payload),
                                                      bytes, scratch, crc);
  return cudaGetLastError();
}

}  // namespace tapedeck::gpu_worker::device::cuda
