#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/for_device.h"
#include "gpu_worker/stages/parameters.h"
#include "gpu_worker/stages/power/transform.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::power {
namespace {

// Computes on the work thread.
class HostPower final : public Transform {
 public:
  explicit HostPower(const Shape& shape) : shape_(shape), sums_(shape.points) {}

  size_t granule_bytes() const override { return shape_.granule_bytes(); }

  absl::Status Apply(std::span<std::byte> in, std::span<std::byte> out) override {
    const auto* samples = reinterpret_cast<const float*>(in.data());
    auto* bins = reinterpret_cast<float*>(out.data());
    const size_t averages = in.size() / granule_bytes();
    for (size_t a = 0; a < averages; ++a, bins += shape_.points) {
      std::ranges::fill(sums_, 0.0);
      for (uint32_t t = 0; t < shape_.average; ++t, samples += 2 * size_t{shape_.points}) {
        for (size_t k = 0; k < shape_.points; ++k) {
          sums_[k] += Power(samples[2 * k], samples[2 * k + 1]);
        }
      }
      for (size_t k = 0; k < shape_.points; ++k) {
        bins[k] = static_cast<float>(sums_[k] / shape_.average);
      }
    }
    return absl::OkStatus();
  }

 private:
  const Shape shape_;
  std::vector<double> sums_;
};

absl::StatusOr<std::unique_ptr<Transform>> CreateOnHost(const Shape& shape,
                                                        device::Queue& /*queue*/) {
  return std::make_unique<HostPower>(shape);
}

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  const auto read = [&](absl::string_view name, uint32_t& value, uint32_t most) {
    reader.Whole(name, value);
    reader.Require(value >= 1 && value <= most, name,
                   absl::StrCat("a whole number from 1 to ", most));
  };
  read("points", out.points, kMostPoints);
  read("average", out.average, kMostAverage);
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  return {.parameters = {{"average", absl::StrCat(parameters.average)},
                         {"points", absl::StrCat(parameters.points)}},
          .takes = kTransformable,
          .gives = "rf32_le",
          .samples_for_one = parameters.average,
          .in_place = false};
}

absl::StatusOr<Parameters> FromOrigin(const TextParameters& parameters) {
  services::StageParameters given(parameters.begin(), parameters.end());
  given.emplace("average", "");  // no number, if there is none
  return Parse(given);
}

absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformSetup& setup) {
  const Shape shape{.points = parameters.points, .average = parameters.average};
  if (setup.block_bytes % shape.granule_bytes() != 0) {
    return services::ArgumentInvalid(
        "power.points", absl::StrCat("power: a block of ", setup.block_bytes,
                                     " bytes does not hold whole averages ", "of ", shape.average,
                                     " transforms of ", shape.points, " cf32_le points"));
  }
  return MakeFor<&CreateOnHost, &cuda::Create>(*setup.device, kName, shape, *setup.queue);
}

}  // namespace tapedeck::gpu_worker::stages::power
