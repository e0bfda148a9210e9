// Calls in HTTP's words: which paths are calls, their requests and answers as JSON, and errors. One
// mapping for all services, from their descriptors. Any thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace google::protobuf {
class Message;
class MethodDescriptor;
}  // namespace google::protobuf

namespace tapedeck::services::console {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

// "tapedeck.v1.NodeService/GetNode" of one of `services`. NOT_FOUND: there is no such call there,
// or its caller streams.
absl::StatusOr<const MethodDescriptor*> FindMethod(absl::string_view path,
                                                   absl::Span<const std::string> services);

std::unique_ptr<Message> NewRequest(const MethodDescriptor& method);
std::unique_ptr<Message> NewAnswer(const MethodDescriptor& method);

// INVALID_ARGUMENT (ARGUMENT_INVALID): it is not JSON, or not of such a message (message_json.h).
// Unknown fields are refused.
absl::Status ReadJson(absl::string_view json, Message& message);
// A line without an end.
std::string WriteJson(const Message& message);

// A text in quotes.
std::string JsonText(absl::string_view text);
// {"code": ..., "reason": ..., "message": ..., "metadata": {...}}
std::string ErrorJson(const absl::Status& status);
unsigned HttpStatusOf(absl::StatusCode code);

}  // namespace tapedeck::services::console
