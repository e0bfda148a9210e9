#include "services/session/protocol/violation.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::session {

absl::Status UnexpectedMessage(absl::string_view peer, absl::string_view message) {
  return ProtocolViolation({.message = message, .peer = peer},
                           absl::StrCat(peer, " sent ", message, ", which does not belong here"));
}

absl::Status BadField(absl::string_view peer, absl::string_view message, absl::string_view field,
                      absl::string_view problem) {
  return ProtocolViolation({.message = message, .field = field, .peer = peer},
                           absl::StrCat(peer, " sent ", message, " whose ", field, " ", problem));
}

bool IsViolation(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() && reason->reason == "PROTOCOL_VIOLATION";
}

bool SaysWhy(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() &&
         (reason->reason == "PROTOCOL_VIOLATION" || reason->reason == "LIMIT_REACHED" ||
          reason->reason == "ACCESS_DENIED");
}

FieldCheck& FieldCheck::Text(absl::string_view text, size_t most, absl::string_view field) {
  Require(text.size() <= most, field, absl::StrCat("is longer than ", most, " bytes"));
  return Require(std::ranges::none_of(
                     text, [](char c) { return absl::ascii_iscntrl(static_cast<uint8_t>(c)); }),
                 field, "has control characters");
}

}  // namespace tapedeck::services::session
