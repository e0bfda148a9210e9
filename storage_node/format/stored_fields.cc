#include "storage_node/format/stored_fields.h"

namespace tapedeck::storage_node::format {

using nlohmann::json;
using services::model::kMaxDurationNs;
using services::model::kMaxTimeNs;

void StoredField::Read(int64_t& ns) {
  const bool duration = field_.unit == services::model::Unit::kDuration;
  ns = duration ? fields_.Int(key_.c_str(), 0, kMaxDurationNs)
                : fields_.Int(key_.c_str(), -kMaxTimeNs, kMaxTimeNs);
}

void StoredField::Read(std::vector<std::string>& values) {
  const json& list = fields_.List(key_.c_str());
  fields_.Require(list.size() <= field_.most, key_.c_str(),
                  absl::StrCat("are more than ", field_.most));
  for (const json& one : list) {
    fields_.Require(one.is_string(), key_.c_str(), "has one that is not a text");
    if (one.is_string()) values.push_back(one.get<std::string>());
  }
}

}  // namespace tapedeck::storage_node::format
