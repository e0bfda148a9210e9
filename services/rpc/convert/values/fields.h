// What the conversions share: enum ranges, maps, the two errors a message can cause, and errors as
// messages.
#pragma once

#include <google/protobuf/map.h>

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace google::rpc {
class Status;
}

namespace tapedeck::services::convert {

// A field of a request is wrong: INVALID_ARGUMENT with ARGUMENT_INVALID and the field's name.
absl::Status FieldError(absl::string_view field, absl::string_view problem);

// A peer broke the session protocol: INVALID_ARGUMENT with PROTOCOL_VIOLATION. `field` is of
// `message`, or empty.
absl::Status ProtocolError(absl::string_view message, absl::string_view field,
                           absl::string_view problem);

// Our enums have the numbers of their wire twins; 0 is "not set" there and absent here.
template <typename Ours, typename Wire>
absl::StatusOr<Ours> FromEnum(Wire value, int last, absl::string_view field) {
  const int number = static_cast<int>(value);
  if (number < 1 || number > last) return FieldError(field, "is not set or not known");
  return static_cast<Ours>(number);
}

using WireMap = google::protobuf::Map<std::string, std::string>;

inline std::map<std::string, std::string> FromWireMap(const WireMap& map) {
  return {map.begin(), map.end()};
}

inline void ToWireMap(const std::map<std::string, std::string>& map, WireMap& out) {
  for (const auto& [key, value] : map) out[key] = value;
}

// The one encoding of an absl::Status: google.rpc.Status, which carries the reason as a
// google.rpc.ErrorInfo (AIP-193). Calls send it in a trailer (status.h), jobs and sessions in a
// field. Texts over 2 KiB are cut.
google::rpc::Status ToProto(const absl::Status& status);

// Details that are damaged or of another domain leave the status without a reason; a code that
// there is none of becomes UNKNOWN.
absl::Status FromProto(const google::rpc::Status& status);

}  // namespace tapedeck::services::convert
