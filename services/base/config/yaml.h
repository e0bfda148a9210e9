// A YAML or JSON text as a protobuf message, and YAML of a message. The message's fields are the
// keys, under the names that the proto has. What the message does not say (an unknown key, another
// type, a number out of bounds) is refused with file, line and path of the field. setting.proto has
// the options of fields that count here. Any thread.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/base/config/fault.h"

namespace tapedeck::services::config {

// Into `message`, which is empty. INVALID_ARGUMENT (ARGUMENT_INVALID) names `file`, the line and
// the path. The places are those of all fields that the text has, for those who look closer.
absl::StatusOr<Places> ReadText(const std::string& file, absl::string_view text,
                                google::protobuf::Message& message);

// The same of the regular file at `path`. FILE_NOT_FOUND if it cannot be read.
absl::StatusOr<Places> ReadFile(const std::string& path, google::protobuf::Message& message);

// YAML that ReadText makes the same message of. Numbers and booleans are all there; of texts,
// enums, lists and messages those that are set. A secret that is set is "***".
std::string WriteYaml(const google::protobuf::Message& message);

}  // namespace tapedeck::services::config
