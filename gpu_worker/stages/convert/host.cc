#include "gpu_worker/stages/convert/host/transform.h"

#include "dataplane/status_macros.h"
#include "services/signal/samples/conversion.h"

namespace tapedeck::gpu_worker::stages::convert::host {
namespace {

using services::samples::Conversion;

class HostConvert final : public Transform {
 public:
  HostConvert(const Conversion& conversion, size_t sample_bytes)
      : conversion_(conversion), sample_bytes_(sample_bytes) {}

  size_t granule_bytes() const override { return sample_bytes_; }

  absl::Status Apply(std::span<std::byte> in, std::span<std::byte> out) override {
    conversion_.Run(in, out.data());
    return absl::OkStatus();
  }

 private:
  const Conversion conversion_;
  const size_t sample_bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transform>> Create(const dataplane::Datatype& from,
                                                  const dataplane::Datatype& to,
                                                  device::Queue& /*queue*/) {
  TD_ASSIGN_OR_RETURN(const Conversion conversion, Conversion::Between(from, to));
  return std::make_unique<HostConvert>(conversion, from.bytes_per_sample());
}

}  // namespace tapedeck::gpu_worker::stages::convert::host
