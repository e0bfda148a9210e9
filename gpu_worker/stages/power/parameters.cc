#include "gpu_worker/stages/power/parameters.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/parameters.h"

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

}  // namespace tapedeck::gpu_worker::stages::power
