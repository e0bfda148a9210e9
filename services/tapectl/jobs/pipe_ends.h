// `-` as source or sink: a worker has no standard input of tapectl's, so tapectl moves the samples
// itself, as recordings import and export do.
#pragma once

#include "absl/status/status.h"
#include "services/tapectl/jobs/transfer_options.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {

// INVALID_ARGUMENT: an option that only a worker could follow.
absl::Status RecordPipe(Program& program, const RecordOptions& options);
absl::Status PlayPipe(Program& program, const PlayOptions& options);

}  // namespace tapedeck::services::tapectl
