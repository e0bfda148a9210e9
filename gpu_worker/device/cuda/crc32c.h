// The CRC32C kernel; free of Abseil, which device code does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu_worker/device/crc32c_math.h"

namespace tapedeck::gpu_worker::device::cuda {

// What is under way, in memory of the device; of one stream at a time. Zeros before its first use.
struct Crc32cState {
  static constexpr uint32_t kPieces = 8;  // of one launch
  uint32_t sums[kPieces];
  uint32_t groups_done[kPieces];
};

// In memory of the device; of one stream at a time.
struct Crc32cScratch {
  crc::Tables tables;
  Crc32cState sums;
};

// Enqueues what a scratch needs before its first use.
cudaError_t LaunchCrc32cTables(Crc32cScratch* scratch, cudaStream_t stream);

// Enqueues crcs[i] = CRC32C of piece i of the payload, the last of which may be shorter, and which
// has one where it is empty. `payload` is device memory at a multiple of 16 bytes, as
// `piece_bytes` is where there are several; `crcs` is pinned host memory, written by the device.
cudaError_t LaunchCrc32c(const unsigned char* payload, size_t bytes, size_t piece_bytes,
                         const crc::Tables* tables, Crc32cState* sums, uint32_t* crcs,
                         cudaStream_t stream);
inline cudaError_t LaunchCrc32c(const unsigned char* payload, size_t bytes, size_t piece_bytes,
                                Crc32cScratch* scratch, uint32_t* crcs, cudaStream_t stream) {
  return LaunchCrc32c(payload, bytes, piece_bytes, &scratch->tables, &scratch->sums, crcs, stream);
}

}  // namespace tapedeck::gpu_worker::device::cuda
