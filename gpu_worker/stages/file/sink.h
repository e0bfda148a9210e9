// The file sink: each block's payload at sequence * block_bytes, in any order. A missing block
// leaves a hole and an error at the end.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker::stages::file {

// Replaces the file at `path`. NOT_FOUND (FILE_NOT_FOUND) if it cannot be opened for writing.
absl::StatusOr<std::unique_ptr<SinkStage>> CreateSink(const std::string& path,
                                                      uint64_t block_bytes);

}  // namespace tapedeck::gpu_worker::stages::file
