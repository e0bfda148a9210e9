// Closes a recording for good: cuts the files to what they hold, flushes them, and only then says
// so in the manifest. Used by the writer and by recovery; doing it twice does no harm.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

struct SealPlan {
  format::Manifest manifest;         // as it shall be
  std::vector<uint64_t> data_bytes;  // used on each member
  uint64_t index_bytes = 0;          // if more than the manifest's blocks need: so much stays
  uint64_t watermark_generation = 0;
  // As it was written when the recording began: a power cut that tears the same bytes spoils none.
  format::IndexHeader header;
};

// On the executor of `files`, which must live until `done` or be destroyed without it.
void SealRecording(store::RecordingFiles& files, SealPlan plan, store::Done done);

}  // namespace tapedeck::storage_node::recording
