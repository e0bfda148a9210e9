// What the stages of a recording tell of it.
#pragma once

#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "services/model/recording/origin.h"

namespace tapedeck::gpu_worker::pipeline {

// What is said of any recording that this worker makes.
struct Making {
  const stages::ChosenSource& source;
  std::span<const stages::ChosenTransform> transforms;
  const stages::MadeSource& made;  // of the source
  std::string datatype;            // that comes out
  std::string device;
};

// The transforms behind those that the source tells of. RESOURCE_EXHAUSTED (LIMIT_REACHED): there
// are more than a recording tells of.
absl::StatusOr<services::model::Origin> OriginOf(const Making& making);

// A transform, as the origin of a recording names it.
services::model::OriginStage StageOf(const stages::ChosenTransform& transform);

}  // namespace tapedeck::gpu_worker::pipeline
