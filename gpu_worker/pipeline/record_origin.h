// What the stages of a recording tell of it.
#pragma once

#include <span>
#include <string>

#include "gpu_worker/stages/kind.h"
#include "services/model/origin.h"

namespace tapedeck::gpu_worker::pipeline {

// What is said of any recording that this worker makes.
struct Making {
  const stages::ChosenSource& source;
  std::span<const stages::ChosenTransform> transforms;
  const stages::TextParameters& seen;  // of the source, when it was made
  std::string datatype;                // that comes out
  std::string device;
};

services::model::Origin OriginOf(const Making& making);

// A transform, as the origin of a recording names it.
services::model::OriginStage StageOf(const stages::ChosenTransform& transform);

}  // namespace tapedeck::gpu_worker::pipeline
