// Facts of notes about the parts of a recording. Values; any thread.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/model/recording/part.h"

namespace tapedeck::services::parts {

// part, parts and node, as all notes of parts have them. `node` is HOST:PORT.
inline std::map<std::string, std::string> FactsOf(const model::Part& part,
                                                  const std::string& node) {
  return {{"part", absl::StrCat(part.number)}, {"parts", absl::StrCat(part.parts)}, {"node", node}};
}

// Its reason; of one that has none, the name of its code.
inline std::string ReasonIn(const absl::Status& error) {
  const auto reason = ReasonOf(error);
  return reason.has_value() ? reason->reason : absl::StatusCodeToString(error.code());
}

}  // namespace tapedeck::services::parts
