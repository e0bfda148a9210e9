// Errors that both ends of a session make.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::session {

// PROTOCOL_VIOLATION: `peer` ("the worker") sent `message` ("Accept") where it does not belong.
absl::Status UnexpectedMessage(absl::string_view peer, absl::string_view message);

}  // namespace tapedeck::services::session
