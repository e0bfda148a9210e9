// The convert stage: samples of one SigMF type to another, as conversion.h says.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/datatype.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::convert {

inline constexpr char kName[] = "convert";

// Datatypes.
struct Parameters {
  std::string from = kTransformable;
  std::string to = kTransformable;
};

// One of the two must be given.
absl::StatusOr<Parameters> Parse(const services::StageParameters& given);

Description Describe(const Parameters& parameters);

// The errors of MakeFor.
absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformSetup& setup);

namespace cuda {

// One kernel per block. `queue` is one of the device.
absl::StatusOr<std::unique_ptr<Transform>> Create(const dataplane::Datatype& from,
                                                  const dataplane::Datatype& to,
                                                  device::Queue& queue);

}  // namespace cuda
}  // namespace tapedeck::gpu_worker::stages::convert
