#include "gpu_worker/stages/detect/parameters.h"

#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/fft.h"
#include "gpu_worker/stages/parameters.h"
#include "services/signal/samples/window.h"

namespace tapedeck::gpu_worker::stages::detect {
namespace {

// Floats have no more.
constexpr double kMostDecibels = 400;

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  reader.Whole("points", out.points);
  reader.Require(out.points >= fft::kMinPoints && out.points <= fft::kMaxPoints, "points",
                 absl::StrCat("a whole number from ", fft::kMinPoints, " to ", fft::kMaxPoints));
  reader.Text("window", out.window);
  reader.Require(absl::c_linear_search(services::samples::WindowNames(), out.window), "window",
                 absl::StrCat("one of ", absl::StrJoin(services::samples::WindowNames(), ", ")));
  reader.Number("low", out.low, -0.5, 0.5);
  reader.Number("high", out.high, -0.5, 0.5);
  reader.Require(out.low <= out.high, "high", "low or more");
  reader.Number("threshold", out.threshold, -kMostDecibels, kMostDecibels);
  reader.Require(!std::isnan(out.threshold), "threshold", "told, in decibels");
  reader.Number("hysteresis", out.hysteresis, 0, kMostDecibels);
  reader.Whole("hold_off", out.hold_off);
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  return {.parameters = {{"points", absl::StrCat(parameters.points)},
                         {"window", parameters.window},
                         {"low", absl::StrCat(parameters.low)},
                         {"high", absl::StrCat(parameters.high)},
                         {"threshold", absl::StrCat(parameters.threshold)},
                         {"hysteresis", absl::StrCat(parameters.hysteresis)},
                         {"hold_off", absl::StrCat(parameters.hold_off)}},
          .takes = kTransformable,
          .gives = kTransformable,
          .triggers = true};
}

}  // namespace tapedeck::gpu_worker::stages::detect
