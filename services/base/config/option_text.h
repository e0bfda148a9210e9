// A field of a daemon's configuration as its option on the command line takes it, and back. Any
// thread.
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "services/base/version.h"

namespace tapedeck::services::config {

// "--rail".
std::string OptionOf(const google::protobuf::FieldDescriptor& field);

// An empty configuration: its fields say what there is to set.
std::unique_ptr<google::protobuf::Message> NewConfig(NodeRole role);

// The field of such a one that the option sets; nullptr: none.
const google::protobuf::FieldDescriptor* FieldOf(NodeRole role, const std::string& option);

// Sets the field, or adds to its list. INVALID_ARGUMENT without where the text stood.
absl::Status SetOption(const std::string& text, const google::protobuf::FieldDescriptor& field,
                       google::protobuf::Message& message);

// The text that SetOption takes. `index` in its list; of a field that is no list -1.
std::string OptionText(const google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field, int index = -1);

}  // namespace tapedeck::services::config
