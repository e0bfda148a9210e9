#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/signal/samples/window.h"
#include "storage_node/view/analyzers.h"

namespace tapedeck::storage_node::view {
namespace {

using services::model::OriginStage;

// As the worker's transforms allow.
constexpr uint32_t kMostTransformPoints = 65536;
constexpr uint32_t kMostAverage = 65536;

absl::Status Because(std::string why) { return absl::InvalidArgumentError(why); }

// 0: it tells none, or one that is impossible.
uint32_t NumberOf(const OriginStage& stage, const char* parameter, uint32_t most) {
  const auto found = stage.parameters.find(parameter);
  uint32_t number = 0;
  if (found == stage.parameters.end() || !absl::SimpleAtoi(found->second, &number)) return 0;
  return number <= most ? number : 0;
}

absl::Status AfterFft(const OriginStage& stage, Spectra* made) {
  if (made->points != 0) return Because("a second fft transformed its spectra");
  made->points = NumberOf(stage, "points", kMostTransformPoints);
  if (made->points < 2) return Because("its fft has no number of points");
  const auto found = stage.parameters.find("window");
  const std::string window =
      found == stage.parameters.end() ? services::samples::kNoWindow : found->second;
  const std::vector<double> weights = services::samples::WindowWeights(window, made->points);
  if (weights.empty()) return Because(absl::StrCat("its fft has the unknown window ", window));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  made->full_scale = sum * sum;
  return absl::OkStatus();
}

absl::Status AfterPower(const OriginStage& stage, Spectra* made) {
  const uint32_t points = NumberOf(stage, "points", kMostTransformPoints);
  const uint32_t average = NumberOf(stage, "average", kMostAverage);
  if (points == 0 || average == 0) return Because("its power has no points or no average");
  if (made->points == 0) return Because("it holds the power of samples in time");
  if (made->powers) return Because("a second power squared its powers");
  // Alone, each sample keeps its place, whatever the points are.
  if (average > 1 && points % made->points != 0) {
    return Because(absl::StrCat("its power averages ", points, " points, and its spectra have ",
                                made->points));
  }
  made->powers = true;
  made->average = average;
  return absl::OkStatus();
}

absl::Status AfterConvert(const OriginStage& stage, Spectra* made) {
  const auto to = stage.parameters.find("to");
  if (to == stage.parameters.end()) return Because("its convert has no datatype");
  const bool halves = made->points != 0 && !made->powers && absl::StartsWith(to->second, "r");
  return halves ? Because("its convert kept the real part of its spectra alone") : absl::OkStatus();
}

absl::Status After(const OriginStage& stage, Spectra* made) {
  if (stage.name == "fft") return AfterFft(stage, made);
  if (stage.name == "power") return AfterPower(stage, made);
  if (stage.name == "convert") return AfterConvert(stage, made);
  if (stage.name == "detect") return absl::OkStatus();  // gives what it takes
  return Because(absl::StrCat("the node does not know its transform ", stage.name));
}

absl::StatusOr<Spectra> Follow(const std::vector<OriginStage>& transforms,
                               const dataplane::Datatype& datatype, uint64_t block_samples) {
  Spectra made;
  for (const OriginStage& stage : transforms) TD_RETURN_IF_ERROR(After(stage, &made));
  if (made.points == 0) return made;
  if (!made.powers && !datatype.complex) return Because("its spectra are real numbers");
  if (block_samples % made.points != 0) {
    return Because(absl::StrCat("its blocks of ", block_samples,
                                " samples do not hold whole spectra of ", made.points, " points"));
  }
  return made;
}

}  // namespace

absl::StatusOr<Spectra> SpectraOf(const std::string& recording,
                                  const services::model::Origin& origin,
                                  const dataplane::Datatype& datatype, uint64_t block_samples) {
  absl::StatusOr<Spectra> made = Follow(origin.transforms, datatype, block_samples);
  if (made.ok()) return made;
  return services::ArgumentInvalid(
      "recording",
      absl::StrCat(recording, " cannot be drawn by frequency: ", made.status().message()));
}

}  // namespace tapedeck::storage_node::view
