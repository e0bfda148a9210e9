// Messages in the JSON that tapectl prints: fields by their names in the proto, durations as NAME_s
// in seconds, times as RFC 3339, enums by their words, bytes in base64, integers as numbers. Where
// tapectl prints no such object, those beyond 2^53, which a browser would round, are texts; a
// request may have either. Any thread.
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json_fwd.hpp>

#include "services/site/json.h"

namespace tapedeck::services::console {

// With fields of no value, too. What tapectl prints of the same object, where that has a place for
// it in the model.
tapectl::Json JsonOf(const google::protobuf::Message& message);

// The same as protobuf's own JSON, which has its own ways with durations and enums. What there is
// no such field for stays as it is.
tapectl::Json AsProtobufHasIt(tapectl::Json json, const google::protobuf::Descriptor& type);

}  // namespace tapedeck::services::console
