// A file becomes a recording, block by block: what it says is missing is missing there. One thread
// that may wait.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "services/formats/io/reader.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::services::formats {

// INVALID_ARGUMENT (FILE_INVALID): the file does not hold what the channel does: samples, its
// datatype, its sample rate to a millionth. (ARGUMENT_INVALID): it would, but `told` says
// otherwise.
absl::Status CheckCompatible(const std::string& path, const Content& content,
                             const Channel& channel, const ReadOptions& told = {});

// "FILE has 5 samples a second", or that --sample-rate says so.
std::string RateText(const std::string& file, double rate, const ReadOptions& told);

// How many blocks of the channel it takes.
uint64_t BlocksOf(const Content& content, const Channel& channel);

struct ImportRequest {
  Reader* reader = nullptr;
  Channel channel;
  model::SampleTime start_ns;  // when the first sample was captured; none: unknown
  // An empty slot for the next block, and what takes it then.
  std::function<absl::StatusOr<dataplane::Block>()> slot;
  std::function<void(dataplane::Block)> give;
  // Called again and again: bytes of samples that are done. False ends it: a file's import fails,
  // and a stream's ends there, as if no more samples had come.
  std::function<bool(uint64_t bytes)> progress;
};

// CANCELLED (JOB_CANCELLED); the errors of the reader and of `slot`.
absl::Status Import(const ImportRequest& request);

// Blocks are missing as a whole. Of gaps that begin or end within one, what lies in blocks that are
// there: annotations `lost`, as a worker has them that receives packets. The samples are zeros.
std::vector<Annotation> LostWithinBlocks(const Content& content, const Channel& channel);

}  // namespace tapedeck::services::formats
