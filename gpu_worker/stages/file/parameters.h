// What the file source and the file sink are told.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::file {

struct SourceParameters {
  std::string path;   // on the worker's machine
  bool loop = false;  // start again at the end
};

absl::StatusOr<SourceParameters> ParseSource(const services::StageParameters& given);
Description DescribeSource(const SourceParameters& parameters);

struct SinkParameters {
  std::string path;      // on the worker's machine
  bool replace = false;  // the file that is there, once the playback has ended well
};

absl::StatusOr<SinkParameters> ParseSink(const services::StageParameters& given);
Description DescribeSink(const SinkParameters& parameters);

}  // namespace tapedeck::gpu_worker::stages::file
