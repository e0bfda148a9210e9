#include "services/session/violation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "services/errors.h"

namespace tapedeck::services::session {

absl::Status UnexpectedMessage(absl::string_view peer, absl::string_view message) {
  return WithReason(absl::InvalidArgumentError(
                        absl::StrCat(peer, " sent ", message, ", which does not belong here")),
                    "PROTOCOL_VIOLATION", {{"message", std::string(message)}});
}

}  // namespace tapedeck::services::session
