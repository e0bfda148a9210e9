#include "gpu_worker/pipeline/record_labels.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::pipeline {
namespace {

std::string NamesOf(std::span<const stages::ChosenTransform> transforms) {
  return absl::StrJoin(transforms, ",", [](std::string* out, const auto& transform) {
    out->append(transform.name);
  });
}

}  // namespace

absl::StatusOr<stages::Labels> LabelsOf(const stages::ChosenSource& source,
                                        std::span<const stages::ChosenTransform> transforms) {
  stages::Labels labels = source.description.labels;
  for (const stages::ChosenTransform& transform : transforms) {
    for (const auto& [key, value] : transform.description.labels) {
      if (labels.emplace(key, value).second) continue;
      return services::ArgumentInvalid(
          "transforms", absl::StrCat(transform.name, " and a stage before it both have the label ",
                                     key, " of a recording: leave out one of them"));
    }
  }
  if (!transforms.empty()) labels["transforms"] = NamesOf(transforms);
  return labels;
}

}  // namespace tapedeck::gpu_worker::pipeline
