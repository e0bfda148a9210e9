#include "gpu_worker/pipeline/record_origin.h"

#include "services/version.h"

namespace tapedeck::gpu_worker::pipeline {

services::model::OriginStage StageOf(const stages::ChosenTransform& transform) {
  return {.name = transform.name, .parameters = transform.description.parameters};
}

services::model::Origin OriginOf(const Making& making) {
  services::model::Origin origin{
      .datatype = making.datatype, .device = making.device, .version = services::kVersion};
  origin.source = {.name = making.source.name, .parameters = making.source.description.parameters};
  origin.source.parameters.insert(making.seen.begin(), making.seen.end());
  for (const stages::ChosenTransform& one : making.transforms) {
    origin.transforms.push_back(StageOf(one));
  }
  return origin;
}

}  // namespace tapedeck::gpu_worker::pipeline
