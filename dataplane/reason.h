// Why an operation failed, for programs: an absl::Status carries a reason beside its text. The
// reasons are the ErrorReason enum of tapedeck/v1/errors.proto, written here as text so that rooms
// need no proto.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// Returns `status` with the reason and its metadata attached. `reason` is a name of ErrorReason.
absl::Status WithReason(absl::Status status, absl::string_view reason,
                        std::map<std::string, std::string> metadata = {});

struct ErrorReason {
  std::string reason;
  std::map<std::string, std::string> metadata;
};

std::optional<ErrorReason> ReasonOf(const absl::Status& status);

// The same code and reason, with `prefix` before the text.
absl::Status Prefixed(absl::string_view prefix, const absl::Status& status);

// The same text and reason, with another code.
absl::Status Recoded(absl::StatusCode code, const absl::Status& status);

}  // namespace tapedeck::dataplane
