// Why a recording ends, and what its manifest then says of that.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/writing/written_blocks.h"

namespace tapedeck::storage_node::recording {

// A value.
struct Ending {
  absl::Status error;  // the first failure of the writer's own
  absl::Status cause;  // what its session ended with

  // Nothing says that the recording shall end here, or its stream: a session was lost, or a segment
  // of so many blocks is full. 0: it is no segment.
  bool MayGoOn(uint64_t segment_blocks, const WrittenBlocks& written) const;
};

// SEALED if all came that was to come, else SALVAGED with the cause; which blocks there are and
// which not; and the secret of its worker only where it may go on.
void Conclude(const Ending& ending, const WrittenBlocks& written, format::Manifest* manifest);

// Of a full segment, which is closed already: its stream ended behind it, with `cause`, or early
// for the reason `why`.
void ConcludeStream(const absl::Status& cause, const std::string& why, format::Manifest* manifest);

}  // namespace tapedeck::storage_node::recording
