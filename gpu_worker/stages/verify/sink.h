// The verify sink: every block present, in order, and equal to the block computed again where the
// recording's origin says how it was made. CRCs are checked before it, by a decorator. It judges
// the whole stream at its end, so that one damaged block does not hide the next.
#pragma once

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::verify {

struct Parameters {};  // none

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);
Description Describe(const Parameters& parameters);

// Needs blocks in order: a gap in the sequence counts as missing blocks. Close answers DATA_LOSS,
// BLOCK_DAMAGED if blocks are missing, else CONTENT_MISMATCH. A note says so where content is not
// compared. INVALID_ARGUMENT (ARGUMENT_INVALID) if the recording's origin is damaged.
absl::StatusOr<MadeSink> Create(const Parameters& parameters, const SinkSetup& setup);

}  // namespace tapedeck::gpu_worker::stages::verify
