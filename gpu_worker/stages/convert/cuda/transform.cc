#include "gpu_worker/stages/convert/cuda/transform.h"

#include "dataplane/memory/cuda/status.h"
#include "gpu_worker/stages/convert/cuda/kernel.h"

namespace tapedeck::gpu_worker::stages::convert::cuda {
namespace {

using dataplane::Datatype;

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
