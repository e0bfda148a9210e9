#include "services/rpc/convert/values/fields.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/rpc/error_details.pb.h"
#include "services/base/errors.h"

namespace tapedeck::services::convert {
namespace {

constexpr char kDomain[] = "tapedeck";
// HTTP/2 peers may refuse metadata over 8 KiB; in a trailer the text travels twice.
constexpr size_t kMaxTextBytes = 2048;

// At most so much of it, and no part of a character: the peer takes whole ones only.
std::string Cut(absl::string_view text) {
  if (text.size() <= kMaxTextBytes) return std::string(text);
  size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

absl::StatusCode CodeOf(int code) {
  const int last = static_cast<int>(absl::StatusCode::kUnauthenticated);
  return code >= 0 && code <= last ? static_cast<absl::StatusCode>(code)
                                   : absl::StatusCode::kUnknown;
}

}  // namespace

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

google::rpc::Status ToProto(const absl::Status& status) {
  google::rpc::Status out;
  out.set_code(static_cast<int>(status.code()));
  out.set_message(Cut(status.message()));
  const auto reason = ReasonOf(status);
  if (!reason.has_value()) return out;
  google::rpc::ErrorInfo info;
  info.set_reason(reason->reason);
  info.set_domain(kDomain);
  for (const auto& [key, value] : reason->metadata) (*info.mutable_metadata())[key] = Cut(value);
  out.add_details()->PackFrom(info);
  return out;
}

absl::Status FromProto(const google::rpc::Status& status) {
  const absl::Status plain(CodeOf(status.code()), status.message());
  if (plain.ok()) return plain;
  for (const google::protobuf::Any& detail : status.details()) {
    google::rpc::ErrorInfo info;
    if (detail.UnpackTo(&info) && info.domain() == kDomain) {
      return WithReason(plain, info.reason(), FromWireMap(info.metadata()));
    }
  }
  return plain;
}

}  // namespace tapedeck::services::convert
