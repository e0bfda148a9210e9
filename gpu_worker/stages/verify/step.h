// A transform of a recording or of its playback, computed again in double precision.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"
#include "services/signal/samples/reference_fft.h"

namespace tapedeck::gpu_worker::stages::verify {

using services::samples::Room;

// Any thread.
class Step {
 public:
  virtual ~Step() = default;

  // So many samples are taken at a time, and so many given for them.
  virtual size_t granule() const = 0;
  virtual size_t granule_given() const = 0;
  // Samples without an imaginary part.
  virtual bool gives_real() const = 0;

  // Of whole granules; what is given lies at their beginning, real samples with imaginary parts of
  // 0.
  virtual void Apply(std::span<double> real, std::span<double> imaginary, Room& room) const = 0;
};

// From what the origin says of the transform. Null: it cannot be computed again. INVALID_ARGUMENT
// (ARGUMENT_INVALID): they are damaged.
absl::StatusOr<std::unique_ptr<Step>> StepFor(const services::model::OriginStage& transform);

}  // namespace tapedeck::gpu_worker::stages::verify
