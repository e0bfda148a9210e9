#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "dataplane/memory/cuda/status.h"
#include "gpu_worker/stages/convert/transform.h"
#include "services/signal/samples/sample_math.h"

namespace tapedeck::gpu_worker::stages::convert::cuda {

using dataplane::Datatype;
using services::samples::Centred;
using services::samples::FromFullScale;
using services::samples::Swapped;
using services::samples::ToFullScale;
using services::samples::Uncentred;

namespace {

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

constexpr uint32_t kThreads = 256;

template <typename Word>
__device__ uint64_t Load(const unsigned char* data, size_t index, bool big_endian) {
  const Word word = reinterpret_cast<const Word*>(data)[index];
  return big_endian ? Swapped(word) : word;
}

template <typename Word>
__device__ void Store(uint64_t value, unsigned char* data, size_t index, bool big_endian) {
  const auto word = static_cast<Word>(value);
  reinterpret_cast<Word*>(data)[index] = big_endian ? Swapped(word) : word;
}

__device__ uint64_t LoadWord(const Samples& from, size_t index) {
  const bool big_endian = from.format.big_endian;
  switch (from.format.bits) {
    case 8:
      return from.data[index];
    case 16:
      return Load<uint16_t>(from.data, index, big_endian);
    case 32:
      return Load<uint32_t>(from.data, index, big_endian);
    default:
      return Load<uint64_t>(from.data, index, big_endian);
  }
}

__device__ void StoreWord(uint64_t word, const Samples& to, size_t index) {
  const bool big_endian = to.format.big_endian;
  switch (to.format.bits) {
    case 8:
      to.data[index] = static_cast<unsigned char>(word);
      return;
    case 16:
      return Store<uint16_t>(word, to.data, index, big_endian);
    case 32:
      return Store<uint32_t>(word, to.data, index, big_endian);
    default:
      return Store<uint64_t>(word, to.data, index, big_endian);
  }
}

__device__ double Read(const Samples& from, size_t index) {
  const uint64_t word = LoadWord(from, index);
  const int bits = from.format.bits;
  if (from.format.kind == Format::Kind::kFloat) {
    return bits == 32 ? static_cast<double>(__uint_as_float(static_cast<uint32_t>(word)))
                      : __longlong_as_double(static_cast<long long>(word));
  }
  const auto number = static_cast<uint32_t>(word);
  if (from.format.kind == Format::Kind::kUint) return FromFullScale(Centred(number, bits), bits);
  const int unused = 32 - bits;  // bits above the sign
  return FromFullScale(static_cast<int32_t>(number << unused) >> unused, bits);
}

__device__ void Write(double value, const Samples& to, size_t index) {
  const int bits = to.format.bits;
  if (to.format.kind == Format::Kind::kFloat) {
    const uint64_t word = bits == 32 ? __float_as_uint(static_cast<float>(value))
                                     : static_cast<uint64_t>(__double_as_longlong(value));
    return StoreWord(word, to, index);
  }
  const int32_t number = ToFullScale(value, bits);
  const bool is_unsigned = to.format.kind == Format::Kind::kUint;
  StoreWord(is_unsigned ? Uncentred(number, bits) : static_cast<uint32_t>(number), to, index);
}

// One thread per sample.
__global__ void ConvertKernel(Samples from, Samples to, size_t count) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const size_t stride = from.format.complex ? 2 : 1;
  const double re = Read(from, stride * i);
  if (!to.format.complex) return Write(re, to, i);
  const double im = from.format.complex ? Read(from, stride * i + 1) : 0.0;
  Write(re, to, size_t{2} * i);
  Write(im, to, size_t{2} * i + 1);
}

// Enqueues the conversion of `count` samples, below 2^32; `from` and `to` do not overlap.
cudaError_t LaunchConvert(const Samples& from, const Samples& to, size_t count,
                          cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  ConvertKernel<<<blocks, kThreads, 0, stream>>>(from, to, count);
  return cudaGetLastError();
}

Format FormatOf(const Datatype& datatype) {
  Format format{
      .bits = datatype.bits, .complex = datatype.complex, .big_endian = datatype.big_endian};
  if (datatype.kind == Datatype::Kind::kInt) format.kind = Format::Kind::kInt;
  if (datatype.kind == Datatype::Kind::kUint) format.kind = Format::Kind::kUint;
  return format;
}

class CudaConvert final : public Transform {
 public:
  CudaConvert(const Datatype& from, const Datatype& to, device::Queue& queue)
      : from_(FormatOf(from)),
        to_(FormatOf(to)),
        sample_bytes_(from.bytes_per_sample()),
        queue_(queue) {}

  size_t granule_bytes() const override { return sample_bytes_; }

  absl::Status Apply(std::span<std::byte> in, std::span<std::byte> out) override {
    const Samples from{.format = from_, .data = reinterpret_cast<unsigned char*>(in.data())};
    const Samples to{.format = to_, .data = reinterpret_cast<unsigned char*>(out.data())};
    return dataplane::cuda::ToStatus(LaunchConvert(from, to, in.size() / sample_bytes_,
                                                   static_cast<cudaStream_t>(queue_.native())),
                                     "launch of the convert kernel");
  }

 private:
  const Format from_;
  const Format to_;
  const size_t sample_bytes_;
  device::Queue& queue_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transform>> Create(const Datatype& from, const Datatype& to,
                                                  device::Queue& queue) {
  return std::make_unique<CudaConvert>(from, to, queue);
}

}  // namespace tapedeck::gpu_worker::stages::convert::cuda
