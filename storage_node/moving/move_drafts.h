// Copies that are being made by the policy: the origin of each says so (move_draft) until it is
// compared with its original and has what was noted of that. Waits for the disk.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::moving {

// One that somebody keeps is none: it is theirs.
bool IsDraft(const format::Manifest& manifest);

// The copies of `source` that are in that channel, whoever made them, in whatever state.
absl::StatusOr<std::vector<catalog::RecordingRow>> CopiesIn(
    recordings::Recordings& recordings, const recordings::FoundRecording& source,
    const catalog::ResourceName& channel);

// Whether it has as many blocks as `source`, and was closed in order.
bool IsWhole(const format::Manifest& copy, const format::Manifest& source);

enum class Which { kUnfinished, kAll };

// Deletes the drafts among them that are not whole, or all. One that somebody looks at stays until
// another time.
absl::Status RemoveDrafts(recordings::Recordings& recordings,
                          const recordings::FoundRecording& source,
                          const catalog::ResourceName& channel, Which which);

}  // namespace tapedeck::storage_node::moving
