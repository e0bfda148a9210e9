#include "gpu_worker/device/cuda/copy_by_order.h"

namespace tapedeck::gpu_worker::device::cuda {
namespace {

// A read over the bus takes a microsecond or two: so many words of 16 bytes have to be on their way
// to fill it, 256 KiB in all.
constexpr uint32_t kGroups = 16;
constexpr uint32_t kThreads = 256;
constexpr uint32_t kAtOnce = 4;

__global__ void CopyByOrderKernel(unsigned char* to, const OrderWords* order, size_t most) {
  const uint64_t asked = order->bytes;
  const uint64_t bytes = asked < most ? asked : most;
  const uint64_t words = bytes / sizeof(uint4);
  const auto* const in = reinterpret_cast<const uint4*>(order->from);
  auto* const out = reinterpret_cast<uint4*>(to);
  constexpr uint64_t kStride = uint64_t{kGroups} * kThreads;
  const uint64_t thread = uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  uint64_t i = thread;
  for (; i + (kAtOnce - 1) * kStride < words; i += kAtOnce * kStride) {
    uint4 some[kAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) some[k] = in[i + k * kStride];
#pragma unroll
    for (uint32_t k = 0; k < kAtOnce; ++k) out[i + k * kStride] = some[k];
  }
  for (; i < words; i += kStride) out[i] = in[i];
  const uint64_t whole = words * sizeof(uint4);
  if (thread < bytes - whole) to[whole + thread] = order->from[whole + thread];
}

}  // namespace

cudaError_t LaunchCopyByOrder(unsigned char* to, const OrderWords* order, size_t most,
                              cudaStream_t stream) {
  CopyByOrderKernel<<<kGroups, kThreads, 0, stream>>>(to, order, most);
  return cudaGetLastError();
}

}  // namespace tapedeck::gpu_worker::device::cuda
