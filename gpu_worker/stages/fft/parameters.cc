#include "gpu_worker/stages/fft/parameters.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/fft.h"
#include "gpu_worker/stages/parameters.h"

namespace tapedeck::gpu_worker::stages::fft {

using services::samples::kNoWindow;
using services::samples::WindowNames;

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  reader.Whole("points", out.points);
  reader.Require(out.points >= kMinPoints && out.points <= kMaxPoints, "points",
                 absl::StrCat("a whole number from ", kMinPoints, " to ", kMaxPoints));
  reader.Text("window", out.window);
  reader.Require(absl::c_linear_search(WindowNames(), out.window), "window",
                 absl::StrCat("one of ", absl::StrJoin(WindowNames(), ", ")));
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  TextParameters told{{"points", absl::StrCat(parameters.points)}};
  if (parameters.window != kNoWindow) told["window"] = parameters.window;
  return {.parameters = std::move(told), .takes = kTransformable, .gives = kTransformable};
}

absl::StatusOr<Parameters> FromOrigin(const TextParameters& parameters) {
  return Parse({parameters.begin(), parameters.end()});
}

}  // namespace tapedeck::gpu_worker::stages::fft
