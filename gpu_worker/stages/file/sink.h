// The file sink: each block's payload at sequence * block_bytes, in any order. A missing block
// leaves a hole and an error at the end; samples that were lost before the recording are zeros, and
// a note at the end.
#pragma once

#include "absl/status/statusor.h"
#include "gpu_worker/stages/file/parameters.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::file {

// Writes beside the path (see services/base/files/part_file.h): only a playback that ends well puts
// its file there, and one that fails leaves nothing. A recording with missing blocks leaves its
// part file, and the error names it. ALREADY_EXISTS (FILE_EXISTS), INVALID_ARGUMENT (FILE_INVALID),
// NOT_FOUND (FILE_NOT_FOUND), PERMISSION_DENIED (FILE_OUTSIDE_ROOTS).
absl::StatusOr<MadeSink> CreateSink(const SinkParameters& parameters, const SinkPlace& place);

}  // namespace tapedeck::gpu_worker::stages::file
