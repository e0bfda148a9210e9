// What blocks a recording takes, and what is said of those that it does not take.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "dataplane/block/block.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/recording/writing/capacity.h"

namespace tapedeck::storage_node::recording {

// How many blocks before the first that has not come a block may come: a ring of the smallest
// blocks is far shorter.
inline constexpr uint64_t kMaxDisorder = 1 << 16;

// INVALID_ARGUMENT (PROTOCOL_VIOLATION): not a block of a channel with such blocks, of which all
// below `mark` have come.
absl::Status CheckBlock(absl::string_view recording, const dataplane::BlockHeader& header,
                        uint64_t block_bytes, uint64_t mark);

// Annotates what triggers in a block that is recorded, as far as the recording has room. Whoever
// follows it gets a block like any other.
void MarkTriggers(dataplane::BlockHeader& header, LiveRecording& live);
// For whoever has seen to them.
void ForgetTriggers(dataplane::BlockHeader& header);

// RESOURCE_EXHAUSTED (LUN_FULL).
absl::Status Full(absl::string_view recording, const Capacity& capacity);

// RESOURCE_EXHAUSTED (LIMIT_REACHED): more gaps than a manifest may list.
absl::Status TooManyGaps(absl::string_view recording);

}  // namespace tapedeck::storage_node::recording
