// The kernel of a copy whose source is known only when the stream comes to it. C++17, for nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tapedeck::gpu_worker::device::cuda {

// As device::CopyOrder, which device code does not compile.
struct OrderWords {
  const unsigned char* from;
  uint64_t bytes;
};

// Enqueues a copy to `to`, device memory at a multiple of 16 bytes, of what `order`, which is
// pinned host memory, names then: at most `most` bytes, in memory that the device reaches.
cudaError_t LaunchCopyByOrder(unsigned char* to, const OrderWords* order, size_t most,
                              cudaStream_t stream);

}  // namespace tapedeck::gpu_worker::device::cuda
