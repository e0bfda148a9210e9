// A message as YAML that ReadText makes the same message of. Any thread.
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace tapedeck::services::config {

// Numbers and booleans are all there; of texts, enums, lists and messages those that are set. A
// secret that is set is "***".
std::string WriteYaml(const google::protobuf::Message& message);

}  // namespace tapedeck::services::config
