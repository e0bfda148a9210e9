#include "services/session/parts/part_facts.h"

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::parts {

std::map<std::string, std::string> FactsOf(const model::Part& part, const std::string& node) {
  return {{"part", absl::StrCat(part.number)}, {"parts", absl::StrCat(part.parts)}, {"node", node}};
}

std::string ReasonIn(const absl::Status& error) {
  const auto reason = ReasonOf(error);
  return reason.has_value() ? reason->reason : absl::StatusCodeToString(error.code());
}

}  // namespace tapedeck::services::parts
