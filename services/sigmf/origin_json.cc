#include "services/sigmf/origin_json.h"

#include <utility>

#include "absl/time/time.h"

namespace tapedeck::services::sigmf {

using nlohmann::json;

namespace {

json StageJson(const model::OriginStage& stage) {
  return {{"name", stage.name}, {"parameters", stage.parameters}};
}

}  // namespace

std::string TimeOf(int64_t ns) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E9SZ", absl::FromUnixNanos(ns), absl::UTCTimeZone());
}

json JsonOf(const model::Origin& origin) {
  json transforms = json::array();
  for (const model::OriginStage& one : origin.transforms) transforms.push_back(StageJson(one));
  json object = {{"transforms", std::move(transforms)}};
  if (!origin.source.name.empty()) object["source"] = StageJson(origin.source);
  for (const auto& [key, text] :
       {std::pair("datatype", &origin.datatype), std::pair("device", &origin.device),
        std::pair("worker", &origin.worker), std::pair("version", &origin.version),
        std::pair("beside", &origin.beside), std::pair("original_cause", &origin.original_cause)}) {
    if (!text->empty()) object[key] = *text;
  }
  return object;
}

json JsonOf(const model::RecordingGroup& group) {
  json object = {{"id", group.id}};
  if (group.members > 0) {
    object["name"] = group.name;
    object["number"] = group.number;
    object["members"] = group.members;
  }
  if (group.starts_at_ns != 0) object["starts_at"] = TimeOf(group.starts_at_ns);
  if (!group.clock.empty()) {
    object["clock"] = group.clock;
    object["clock_error_ns"] = group.clock_error_ns;
  }
  return object;
}

}  // namespace tapedeck::services::sigmf
