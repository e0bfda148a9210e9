// A recording that was moved within its node, under any name that it had: whoever asks for it is
// told where it has gone (RECORDING_NOT_FOUND with `moved_to`), and goes there.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::services::client {

// From one place to the next; more is no recording's way.
inline constexpr size_t kMostMoves = 8;

using GetRecordingOf = std::function<absl::StatusOr<Recording>(const std::string& name)>;

struct FollowedRecording {
  std::string name;  // under which the node has it
  Recording recording;
};

// Calls `get` with `name`, and with what it is told then. The errors of `get`. NOT_FOUND
// (RECORDING_NOT_FOUND): the way leads in a circle, through more than kMostMoves names, or to what
// is no recording's name. Waits as `get` does.
absl::StatusOr<FollowedRecording> FollowMoved(const GetRecordingOf& get, const std::string& name);

}  // namespace tapedeck::services::client
