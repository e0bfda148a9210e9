#include "services/convert/fields.h"

#include "absl/strings/str_cat.h"
#include "services/errors.h"

namespace tapedeck::services::convert {

absl::Status FieldError(absl::string_view field, absl::string_view problem) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(field, " ", problem)),
                    "ARGUMENT_INVALID", {{"field", std::string(field)}});
}

absl::Status ProtocolError(absl::string_view message, absl::string_view field,
                           absl::string_view problem) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "session: the peer's ", message, field.empty() ? " " : " has a ", field,
                        field.empty() ? "" : " that ", problem)),
                    "PROTOCOL_VIOLATION",
                    {{"message", std::string(message)}, {"field", std::string(field)}});
}

}  // namespace tapedeck::services::convert
