#include "gpu_worker/stages/fft/parameters.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/fft.h"
#include "gpu_worker/stages/parameters.h"

namespace tapedeck::gpu_worker::stages::fft {

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  reader.Whole("points", out.points);
  reader.Require(out.points >= kMinPoints && out.points <= kMaxPoints, "points",
                 absl::StrCat("a whole number from ", kMinPoints, " to ", kMaxPoints));
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  return {.labels = {{kName, absl::StrCat(parameters.points)}}};
}

absl::StatusOr<Parameters> FromLabels(const Labels& labels) {
  services::StageParameters given;
  if (const auto label = labels.find(kName); label != labels.end()) given["points"] = label->second;
  return Parse(given);
}

}  // namespace tapedeck::gpu_worker::stages::fft
