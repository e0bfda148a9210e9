// Counting in memory that several threads of one machine write: of a device, or of the host, never
// across the bus. C++17, for nvcc and for g++.
#pragma once

#include <cstdint>

#include "gpu_worker/sockets/ring.h"

namespace tapedeck::gpu_worker::sockets {

// What was there before. Orders nothing else.
TAPEDECK_ANYWHERE uint32_t AddOwn(uint32_t* to, uint32_t more) {
#ifdef __CUDA_ARCH__
  return atomicAdd(to, more);
#else
  return __atomic_fetch_add(to, more, __ATOMIC_RELAXED);
#endif
}

TAPEDECK_ANYWHERE uint64_t AddOwn(uint64_t* to, uint64_t more) {
#ifdef __CUDA_ARCH__
  return atomicAdd(reinterpret_cast<unsigned long long*>(to), more);
#else
  return __atomic_fetch_add(to, more, __ATOMIC_RELAXED);
#endif
}

}  // namespace tapedeck::gpu_worker::sockets
