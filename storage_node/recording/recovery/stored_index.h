// The facts that the index of a recording gives before the node believes its manifest.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "storage_node/format/index.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/store/recording_files.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recording {

enum class IndexState {
  kGone,     // no copy has a byte
  kBlank,    // all bytes that there are are zero: no entry was ever written
  kWritten,  // anything else
};

// Waits for the disk. Reads up to the first byte that is not zero. Errors are the disk's.
absl::StatusOr<IndexState> StateOfIndex(CallerLoop& loop, store::RecordingFiles& files);

// Waits for the disk. Bytes of the longest copy.
absl::StatusOr<uint64_t> LengthOfIndex(CallerLoop& loop, store::RecordingFiles& files);

// Waits for the disk. The header of the first copy that has a sound one.
std::optional<format::IndexHeader> StoredHeader(CallerLoop& loop, store::RecordingFiles& files);

// The same of copies that are not behind: what lies on one that is proves nothing of what the other
// one held.
std::optional<format::IndexHeader> BelievedHeader(store::Store& store, CallerLoop& loop,
                                                  store::RecordingFiles& files);

// Waits for the disk. How many copies have something else in the place of this sound header.
uint32_t CopiesWithout(CallerLoop& loop, store::RecordingFiles& files,
                       const format::IndexHeader& header);

// Whether a copy of the store is behind: then zeros, and what is gone, may have been something.
bool IsBehind(store::Store& store);

}  // namespace tapedeck::storage_node::recording
