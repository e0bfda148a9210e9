// One value of a field as people write it, and back: what the command line takes for it, too.
// Durations and enums are among them: "10s", and the enum's word without its prefix, "durable".
// Any thread.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::config {

// Whether a value of the field is written as one text: all but messages.
bool IsScalar(const google::protobuf::FieldDescriptor& field);

// How a text stood: in a file with or without quotes, where that tells numbers from texts; or
// alone.
enum class Written { kPlain, kQuoted, kAlone };

// Sets the field, or adds to its list. INVALID_ARGUMENT says what is wrong with the text, without
// saying where it stood.
absl::Status SetScalar(absl::string_view text, Written written,
                       const google::protobuf::FieldDescriptor& field,
                       google::protobuf::Message& message);

// The text that SetScalar takes. `index` in its list; of a field that is no list -1.
std::string ScalarText(const google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field, int index = -1);

}  // namespace tapedeck::services::config
