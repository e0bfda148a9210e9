// The threads that call a socket's function together: on a GPU all of a thread block, on the CPU
// the one that calls, which is a block of one. Everything in which the two machines differ, but for
// the order of memory (ring.h), is here. C++17, for nvcc and for g++.
//
// What a __CUDA_ARCH__ leaves out is compiled for the CPU, by nvcc as well.
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>
#include <cstring>

#include "gpu_worker/sockets/ring.h"

namespace tapedeck::gpu_worker::sockets {

TAPEDECK_ANYWHERE uint32_t LaneOfBlock() {
#ifdef __CUDA_ARCH__
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
#else
  return 0;
#endif
}

TAPEDECK_ANYWHERE uint32_t LanesOfBlock() {
#ifdef __CUDA_ARCH__
  return blockDim.x * blockDim.y * blockDim.z;
#else
  return 1;
#endif
}

// Which block it is of those that run: where it begins to look for a free socket.
TAPEDECK_ANYWHERE uint32_t NumberOfBlock() {
#ifdef __CUDA_ARCH__
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
#else
  return 0;
#endif
}

TAPEDECK_ANYWHERE bool IsFirstLane() { return LaneOfBlock() == 0; }

// What each lane did before is seen by each lane behind it.
TAPEDECK_ANYWHERE void SyncBlock() {
#ifdef __CUDA_ARCH__
  __syncthreads();
#endif
}

// The first lane's value, for all; a barrier, too.
TAPEDECK_ANYWHERE int64_t FromFirstLane(int64_t value) {
#ifdef __CUDA_ARCH__
  __shared__ int64_t shared;
  if (IsFirstLane()) shared = value;
  __syncthreads();
  value = shared;
  __syncthreads();
#endif
  return value;
}

// The sum of all lanes' values, for all; a barrier, too.
TAPEDECK_ANYWHERE int32_t SumOfBlock(int32_t value) {
#ifdef __CUDA_ARCH__
  __shared__ int32_t sum;
  if (IsFirstLane()) sum = 0;
  __syncthreads();
  if (value != 0) atomicAdd(&sum, value);
  __syncthreads();
  value = sum;
  __syncthreads();
#endif
  return value;
}

// The same with all values XORed.
TAPEDECK_ANYWHERE uint32_t XorOfBlock(uint32_t value) {
#ifdef __CUDA_ARCH__
  __shared__ uint32_t all;
  if (IsFirstLane()) all = 0;
  __syncthreads();
  if (value != 0) atomicXor(&all, value);
  __syncthreads();
  value = all;
  __syncthreads();
#endif
  return value;
}

// Nanoseconds from any beginning. On a GPU `globaltimer`, which all of its processors share, unlike
// clock64, whose pace changes; it moves on in steps of up to a microsecond.
TAPEDECK_ANYWHERE int64_t NowNs() {
#ifdef __CUDA_ARCH__
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return static_cast<int64_t>(now);
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
#endif
}

// Between two looks at memory; `looks` counts those since something was there. A GPU has nobody to
// give way to but its own other blocks. A thread of the CPU does not keep the proxy from running.
TAPEDECK_ANYWHERE void PauseBetweenLooks(uint32_t looks) {
#ifdef __CUDA_ARCH__
  __nanosleep(looks < 64 ? 20 : 200);
#else
  if (looks < 32) {
    sched_yield();
  } else {
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  }
#endif
}

// For memory that only one machine writes, never across the bus: replaces `expected`, and says
// whether it was there. Orders like an acquire and a release.
TAPEDECK_ANYWHERE bool ReplaceOwn(uint32_t* word, uint32_t expected, uint32_t desired) {
#ifdef __CUDA_ARCH__
  __threadfence();
  const bool replaced = atomicCAS(word, expected, desired) == expected;
  __threadfence();
  return replaced;
#else
  return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE);
#endif
}
TAPEDECK_ANYWHERE bool ReplaceOwn(uint64_t* word, uint64_t expected, uint64_t desired) {
#ifdef __CUDA_ARCH__
  static_assert(sizeof(unsigned long long) == sizeof(uint64_t));
  __threadfence();
  const bool replaced =
      atomicCAS(reinterpret_cast<unsigned long long*>(word), expected, desired) == expected;
  __threadfence();
  return replaced;
#else
  return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE);
#endif
}

#ifdef __CUDA_ARCH__
// The lanes copy words of type W side by side, so that a warp's accesses become whole lines. Each
// has several on their way: a read over the bus takes a microsecond, and one word of each lane in
// that time would be a fraction of what the bus carries.
template <typename W>
__device__ inline void CopyWords(unsigned char* to, const unsigned char* from, uint64_t words) {
  constexpr uint32_t kAtOnce = 8;
  auto* const out = reinterpret_cast<W*>(to);
  const auto* const in = reinterpret_cast<const W*>(from);
  const uint64_t lanes = LanesOfBlock();
  uint64_t i = LaneOfBlock();
  for (; i + (kAtOnce - 1) * lanes < words; i += kAtOnce * lanes) {
    W some[kAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) some[k] = in[i + k * lanes];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) out[i + k * lanes] = some[k];
  }
  for (; i < words; i += lanes) out[i] = in[i];
}

template <typename W>
__device__ inline void CopyAligned(unsigned char* to, const unsigned char* from, uint64_t bytes) {
  const uint64_t to_border = (sizeof(W) - reinterpret_cast<uint64_t>(to) % sizeof(W)) % sizeof(W);
  const uint64_t head = to_border < bytes ? to_border : bytes;
  const uint64_t words = (bytes - head) / sizeof(W);
  const uint64_t tail = head + words * sizeof(W);
  CopyWords<unsigned char>(to, from, head);
  CopyWords<W>(to + head, from + head, words);
  CopyWords<unsigned char>(to + tail, from + tail, bytes - tail);
}
#endif

// By all lanes, without a barrier.
TAPEDECK_ANYWHERE void CopyByBlock(unsigned char* to, const unsigned char* from, uint64_t bytes) {
#ifdef __CUDA_ARCH__
  const uint64_t apart = reinterpret_cast<uint64_t>(to) ^ reinterpret_cast<uint64_t>(from);
  if (apart % sizeof(uint4) == 0) {
    CopyAligned<uint4>(to, from, bytes);
  } else if (apart % sizeof(uint32_t) == 0) {
    CopyAligned<uint32_t>(to, from, bytes);
  } else {
    CopyWords<unsigned char>(to, from, bytes);
  }
#else
  if (bytes > 0) std::memcpy(to, from, bytes);
#endif
}

}  // namespace tapedeck::gpu_worker::sockets
