#include "gpu_worker/stages/power/transform.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/parameters.h"
#include "gpu_worker/stages/power/list.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::power {

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
  return {.labels = {{kName, absl::StrCat(parameters.average)},
                     {"power_points", absl::StrCat(parameters.points)}},
          .takes = kTransformable,
          .gives = "rf32_le",
          .samples_for_one = parameters.average,
          .in_place = false};
}

absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformPlace& place) {
  const Shape shape{.points = parameters.points, .average = parameters.average};
  if (place.block_bytes % shape.granule_bytes() != 0) {
    return services::ArgumentInvalid(
        "power.points", absl::StrCat("power: a block of ", place.block_bytes,
                                     " bytes does not hold whole averages ", "of ", shape.average,
                                     " transforms of ", shape.points, " cf32_le points"));
  }
  return Create(shape, *place.device, *place.queue);
}

}  // namespace tapedeck::gpu_worker::stages::power
