#include "gpu_worker/stages/power/transform.h"

#include "absl/strings/str_cat.h"
#include "gpu_worker/stages/power/list.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::power {

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
