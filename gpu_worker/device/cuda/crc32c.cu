#include "gpu_worker/device/cuda/crc32c.h"

namespace tapedeck::gpu_worker::device::cuda {
namespace {

using crc::Factor;
using crc::kGroups;
using crc::kGroupThreads;
using crc::kThreads;
using crc::Multiply;
using crc::Word;

constexpr uint32_t kWholeWarp = 0xffffffff;
constexpr uint32_t kFactorEntries = sizeof(Factor) / sizeof(uint32_t);

// One thread for each weight; the first also make the factors.
__global__ void TablesKernel(Crc32cScratch* scratch) {
  constexpr uint32_t kStride = crc::Shift(crc::kStrideBytes);
  constexpr uint32_t kLane = crc::Shift(sizeof(uint32_t));
  const uint32_t thread = blockIdx.x * kGroupThreads + threadIdx.x;
  scratch->tables.weights[thread] = crc::Weight(thread);
  if (thread < kFactorEntries) {
    scratch->tables.stride.of[thread / 256][thread % 256] = crc::FactorEntry(kStride, thread);
    scratch->tables.lane.of[thread / 256][thread % 256] = crc::FactorEntry(kLane, thread);
  }
  if (thread < Crc32cState::kPieces) {
    scratch->sums.sums[thread] = scratch->sums.groups_done[thread] = 0;
  }
}

// To where threads look things up; whole groups only.
__device__ void Load(const Factor& from, Factor& to) {
#pragma unroll
  for (uint32_t byte = 0; byte < 4; ++byte) {
    to.of[byte][threadIdx.x] = __ldg(&from.of[byte][threadIdx.x]);
  }
}

// For each piece kGroups groups of kGroupThreads threads. Each group adds its sum; the last one of
// a piece concludes.
__global__ void Crc32cKernel(const unsigned char* payload, size_t all_bytes, size_t piece_bytes,
                             const crc::Tables* tables, Crc32cState* under_way, uint32_t* out) {
  static_assert(kGroupThreads == 256, "Load has a thread for each entry of a row");
  __shared__ Factor stride;
  __shared__ Factor lane;
  __shared__ uint32_t group_sum;
  if (threadIdx.x == 0) group_sum = 0;
  Load(tables->stride, stride);
  Load(tables->lane, lane);
  const uint32_t thread = blockIdx.x * kGroupThreads + threadIdx.x;
  const uint32_t weight = __ldg(&tables->weights[thread]);
  __syncthreads();
  const uint32_t piece = blockIdx.y;
  payload += piece * piece_bytes;
  const size_t rest = all_bytes - piece * piece_bytes;
  const size_t bytes = rest < piece_bytes ? rest : piece_bytes;
  const size_t words = bytes / sizeof(Word);
  const uint32_t thread_sum = crc::ThreadSum(reinterpret_cast<const Word*>(payload),
                                             static_cast<int64_t>(words), thread, stride, lane);
  const uint32_t warp_sum = __reduce_xor_sync(kWholeWarp, Multiply(weight, thread_sum));
  if (threadIdx.x % warpSize == 0) atomicXor(&group_sum, warp_sum);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicXor(&under_way->sums[piece], group_sum);
  __threadfence();
  // Back to 0 at the last.
  if (atomicInc(&under_way->groups_done[piece], kGroups - 1) != kGroups - 1) return;
  __threadfence();
  const uint32_t sum = atomicExch(&under_way->sums[piece], 0);
  const size_t whole = words * sizeof(Word);
  out[piece] = ~crc::Consume(words == 0 ? ~0u : sum, payload + whole, bytes - whole);
}

}  // namespace

cudaError_t LaunchCrc32cTables(Crc32cScratch* scratch, cudaStream_t stream) {
  TablesKernel<<<kThreads / kGroupThreads, kGroupThreads, 0, stream>>>(scratch);
  return cudaGetLastError();
}

cudaError_t LaunchCrc32c(const unsigned char* payload, size_t bytes, size_t piece_bytes,
                         const crc::Tables* tables, Crc32cState* sums, uint32_t* crcs,
                         cudaStream_t stream) {
  const size_t most_bytes = Crc32cState::kPieces * piece_bytes;
  do {
    const size_t some = bytes < most_bytes ? bytes : most_bytes;
    const auto pieces = static_cast<uint32_t>((some + piece_bytes - 1) / piece_bytes);
    const dim3 groups(kGroups, pieces == 0 ? 1 : pieces);
    Crc32cKernel<<<groups, kGroupThreads, 0, stream>>>(payload, some, piece_bytes, tables, sums,
                                                       crcs);
    payload += some;
    bytes -= some;
    crcs += pieces;
  } while (bytes > 0);
  return cudaGetLastError();
}

}  // namespace tapedeck::gpu_worker::device::cuda
