// What a CUDA device does without us, which the pipeline's rates are compared with: copies and
// cuFFT as a program of a page would use them. Without CUDA in the build, plain_cuda_absent.cc
// answers in its place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "gpu_worker/device/device.h"

namespace tapedeck::gpu_worker {

// MB/s, 10^6 bytes.
struct PlainRates {
  double copy_out = 0;  // cudaMemcpyAsync to pinned memory, on one stream
  double copy_in = 0;   // and from there
  double fft = 0;       // cufftExecC2C of a block's transforms, by the device's own time
  double our_fft = 0;   // the same by the stage fft
};

// Of blocks of `block_bytes` that lie behind one another in memory, `blocks` copies of each kind.
// FAILED_PRECONDITION on a device that has no CUDA.
absl::StatusOr<PlainRates> MeasurePlain(device::Device& device, size_t block_bytes,
                                        uint64_t blocks);

}  // namespace tapedeck::gpu_worker
