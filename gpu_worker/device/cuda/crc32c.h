// The CRC32C kernel; free of Abseil, which device code does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu_worker/device/cuda/crc32c_math.h"

namespace tapedeck::gpu_worker::device::cuda {

// In memory of the device; of one stream at a time.
struct Crc32cScratch {
  crc::Tables tables;
  uint32_t sum;
  uint32_t groups_done;
};

// Enqueues what a scratch needs before its first use.
cudaError_t LaunchCrc32cTables(Crc32cScratch* scratch, cudaStream_t stream);

// Enqueues *crc = CRC32C of the payload. `payload` is device memory at a multiple of 16 bytes;
// `crc` is pinned host memory, written by the device.
cudaError_t LaunchCrc32c(const void* payload, size_t bytes, Crc32cScratch* scratch, uint32_t* crc,
                         cudaStream_t stream);

}  // namespace tapedeck::gpu_worker::device::cuda
