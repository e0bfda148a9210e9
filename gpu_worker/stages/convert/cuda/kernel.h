// The launch of the convert kernel; free of Abseil, which device code does not compile.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tapedeck::gpu_worker::stages::convert::cuda {

// A SigMF datatype.
struct Format {
  enum class Kind : uint8_t { kFloat, kInt, kUint };
  Kind kind = Kind::kFloat;
  int bits = 32;  // of one component
  bool complex = true;
  bool big_endian = false;
};

// Samples in memory of the device, at a multiple of their size.
struct Samples {
  Format format;
  unsigned char* data = nullptr;
};

// Enqueues the conversion of `count` samples, below 2^32; `from` and `to` do not overlap.
cudaError_t LaunchConvert(const Samples& from, const Samples& to, size_t count,
                          cudaStream_t stream);

}  // namespace tapedeck::gpu_worker::stages::convert::cuda
