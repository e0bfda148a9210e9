#include "gpu_worker/stages/fft/parameters.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/fft.h"
#include "gpu_worker/stages/parameters.h"

namespace tapedeck::gpu_worker::stages::fft {
namespace {

// Beside that of the points, where there is a window.
constexpr char kWindowLabel[] = "fft_window";

}  // namespace

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
  Labels labels{{kName, absl::StrCat(parameters.points)}};
  if (parameters.window != kNoWindow) labels[kWindowLabel] = parameters.window;
  return {.labels = std::move(labels), .takes = kTransformable, .gives = kTransformable};
}

absl::StatusOr<Parameters> FromLabels(const Labels& labels) {
  services::StageParameters given;
  const auto read = [&](const char* name, const char* key) {
    if (const auto label = labels.find(key); label != labels.end()) given[name] = label->second;
  };
  read("points", kName);
  read("window", kWindowLabel);
  return Parse(given);
}

}  // namespace tapedeck::gpu_worker::stages::fft
