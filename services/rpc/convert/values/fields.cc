#include "services/rpc/convert/values/fields.h"

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::convert {

absl::Status FieldError(absl::string_view field, absl::string_view problem) {
  return ArgumentInvalid(field, absl::StrCat(field, " ", problem));
}

absl::Status ProtocolError(absl::string_view message, absl::string_view field,
                           absl::string_view problem) {
  return ProtocolViolation(
      {.message = message, .field = field},
      absl::StrCat("session: the peer's ", message, field.empty() ? " " : " has a ", field,
                   field.empty() ? "" : " that ", problem));
}

}  // namespace tapedeck::services::convert
