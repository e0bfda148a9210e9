// What the end of a session means for its recording: whether it may go on in another session.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"

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

}  // namespace tapedeck::services::session
