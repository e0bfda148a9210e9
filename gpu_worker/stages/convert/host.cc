#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/convert/transform.h"
#include "gpu_worker/stages/for_device.h"
#include "gpu_worker/stages/parameters.h"
#include "services/signal/samples/conversion.h"

namespace tapedeck::gpu_worker::stages::convert {

using dataplane::Datatype;
using dataplane::ParseDatatype;
using services::samples::Conversion;

namespace {

// Computes on the work thread.
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

absl::StatusOr<std::unique_ptr<Transform>> CreateOnHost(const Datatype& from, const Datatype& to,
                                                        device::Queue& /*queue*/) {
  TD_ASSIGN_OR_RETURN(const Conversion conversion, Conversion::Between(from, to));
  return std::make_unique<HostConvert>(conversion, from.bytes_per_sample());
}

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  const auto read = [&](absl::string_view name, std::string& value) {
    reader.Text(name, value);
    reader.Require(ParseDatatype(value).ok(), name, "a SigMF datatype, e.g. ci16_le");
  };
  read("from", out.from);
  read("to", out.to);
  reader.Require(out.from != out.to, "to",
                 absl::StrCat("another datatype than from, which is ", out.from));
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  return {.parameters = {{"from", parameters.from}, {"to", parameters.to}},
          .takes = parameters.from,
          .gives = parameters.to,
          .in_place = false};
}

absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformSetup& setup) {
  TD_ASSIGN_OR_RETURN(const Datatype from, ParseDatatype(parameters.from));
  TD_ASSIGN_OR_RETURN(const Datatype to, ParseDatatype(parameters.to));
  return MakeFor<&CreateOnHost, &cuda::Create>(*setup.device, kName, from, to, *setup.queue);
}

}  // namespace tapedeck::gpu_worker::stages::convert
