// Facts of notes about the parts of a recording. Values; any thread.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "services/model/recording/part.h"

namespace tapedeck::services::parts {

// part, parts and node, as all notes of parts have them. `node` is HOST:PORT.
std::map<std::string, std::string> FactsOf(const model::Part& part, const std::string& node);

// Its reason; of one that has none, the name of its code.
std::string ReasonIn(const absl::Status& error);

}  // namespace tapedeck::services::parts
