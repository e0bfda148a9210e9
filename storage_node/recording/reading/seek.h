// Finds the block where a playback shall begin.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "services/model/playhead.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recording {

// Reads O(log blocks) pieces of the index; waits for the disk. `blocks` can be read of the
// recording: all of a closed one. With `stream` of the playhead more segments follow.
// INVALID_ARGUMENT (ARGUMENT_INVALID) beyond the end of a closed recording, and of a time where
// that recording's start or rate is unknown.
absl::StatusOr<uint64_t> FindStart(store::Store& store, const store::RecordingPath& path,
                                   const format::Manifest& manifest, uint64_t blocks,
                                   const services::model::Playhead& playhead,
                                   const dataplane::Clock& clock);

// Whether the first block begins after the sample or time to begin with; true if there is
// none. Waits for the disk.
absl::StatusOr<bool> BeginsAfter(store::Store& store, const store::RecordingPath& path,
                                 const format::Manifest& manifest, uint64_t blocks,
                                 const services::model::Playhead& playhead,
                                 const dataplane::Clock& clock);

// What the index says of the first block below `blocks` that can be read; none: there is none.
// Waits for the disk.
absl::StatusOr<std::optional<format::IndexEntry>> FirstEntry(store::Store& store,
                                                             const store::RecordingPath& path,
                                                             const format::Manifest& manifest,
                                                             uint64_t blocks,
                                                             const dataplane::Clock& clock);

}  // namespace tapedeck::storage_node::recording
