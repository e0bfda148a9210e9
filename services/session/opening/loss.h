// What the end of a session means for its recording: whether it may go on in another session; and
// how its errors name who is at the other end.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tapedeck::services::session {

// The session was lost, by whatever is between its ends or happened to one of them; nothing says
// that its recording shall end.
bool IsLoss(const absl::Status& cause);

// A session that was not granted for this may be granted later.
bool MayPass(const absl::Status& refusal);

// Of RESUME_REFUSED its metadata's `why`; none: it is another error.
std::optional<std::string> WhyRefused(const absl::Status& refusal);

// Where several nodes can have the recording in turn: the one that says this may have lost it to
// another, or not have it yet.
bool MayBeElsewhere(const absl::Status& cause);

// "storage node HOST:PORT", or "worker HOST:PORT" where `target` is an inlet.
inline std::string PeerOf(const std::string& node, const std::string& target) {
  const bool inlet = absl::StartsWith(target, "inlets/");
  return absl::StrCat(inlet ? "worker " : "storage node ", node);
}

}  // namespace tapedeck::services::session
