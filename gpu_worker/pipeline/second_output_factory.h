// Builds the second output of a recording: its part of the pipeline factory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/pipeline/pipeline_factory.h"
#include "gpu_worker/pipeline/second_output.h"

namespace tapedeck::gpu_worker::pipeline {

// INVALID_ARGUMENT (ARGUMENT_INVALID) names a transform that triggers a channel, and says why there
// is none.
absl::Status CheckTriggersNothing(std::span<const stages::ChosenTransform> transforms,
                                  absl::string_view why);

// Whether a second output can have these transforms behind those of the first. Same error, and
// those of CheckOrder.
absl::Status CheckSecondOutput(std::span<const stages::ChosenTransform> transforms,
                               std::span<const stages::ChosenTransform> second_output);

struct SecondOutputParts {
  const RecordSettings& settings;  // of the whole recording, which has a second output
  uint64_t blocks = 0;             // that the first is expected to have; 0: unknown
  const stages::MadeSource& made;  // of the source
  device::Queue* queue = nullptr;  // of the first; goes before the second output
};
struct MadeSecondOutput {
  std::unique_ptr<SecondOutput> second_output;
  SecondRecording recording;
  uint64_t samples_for_one = 1;  // so many of the first make one of the second
};

// Errors: ARGUMENT_INVALID, DATATYPE_INVALID, and those of OriginOf, of the transforms and of the
// device.
absl::StatusOr<MadeSecondOutput> MakeSecondOutput(const SecondOutputParts& parts);

}  // namespace tapedeck::gpu_worker::pipeline
