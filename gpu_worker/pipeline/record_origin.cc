#include "gpu_worker/pipeline/record_origin.h"

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/base/version.h"

namespace tapedeck::gpu_worker::pipeline {

services::model::OriginStage StageOf(const stages::ChosenTransform& transform) {
  return {.name = transform.name, .parameters = transform.description.parameters};
}

absl::StatusOr<services::model::Origin> OriginOf(const Making& making) {
  const stages::MadeSource& made = making.made;
  services::model::Origin origin{.transforms = made.transforms,
                                 .datatype = making.datatype,
                                 .device = making.device,
                                 .version = services::kVersion,
                                 .metadata = made.metadata};
  origin.source = {.name = making.source.name, .parameters = making.source.description.parameters};
  origin.source.parameters.insert(made.parameters.begin(), made.parameters.end());
  for (const stages::ChosenTransform& one : making.transforms) {
    origin.transforms.push_back(StageOf(one));
  }
  constexpr size_t kMost = services::model::kMaxOriginTransforms;
  if (origin.transforms.size() > kMost) {
    return services::LimitReached(
        kMost, "transforms of a recording",
        absl::StrCat(made.transforms.size(), " transforms made the samples of the source, and ",
                     making.transforms.size(), " follow; a recording has at most ", kMost));
  }
  return origin;
}

}  // namespace tapedeck::gpu_worker::pipeline
