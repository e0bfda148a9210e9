#include "services/sigmf/origin_json.h"

#include <utility>

#include "absl/time/time.h"

namespace tapedeck::services::sigmf {

using nlohmann::json;

namespace {

// Of a file that anybody may have written.
constexpr size_t kMostStages = 32;
constexpr size_t kMostParameters = 32;
constexpr size_t kMostBytes = 1024;

json StageJson(const model::OriginStage& stage) {
  return {{"name", stage.name}, {"parameters", stage.parameters}};
}

bool IsText(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().size() <= kMostBytes;
}

std::optional<model::OriginStage> StageIn(const json& object) {
  if (!object.is_object() || !IsText(object.value("name", json()))) return std::nullopt;
  model::OriginStage stage{.name = object["name"].get<std::string>()};
  const json parameters = object.value("parameters", json::object());
  if (!parameters.is_object() || parameters.size() > kMostParameters) return std::nullopt;
  for (const auto& [name, value] : parameters.items()) {
    if (!IsText(value) || name.size() > kMostBytes) return std::nullopt;
    stage.parameters[name] = value.get<std::string>();
  }
  return stage;
}

}  // namespace

std::string TimeOf(int64_t ns) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E9SZ", absl::FromUnixNanos(ns), absl::UTCTimeZone());
}

json JsonOf(const std::vector<model::OriginStage>& stages) {
  json list = json::array();
  for (const model::OriginStage& one : stages) list.push_back(StageJson(one));
  return list;
}

std::optional<std::vector<model::OriginStage>> StagesIn(const json& list) {
  if (!list.is_array() || list.size() > kMostStages) return std::nullopt;
  std::vector<model::OriginStage> stages;
  for (const json& one : list) {
    auto stage = StageIn(one);
    if (!stage.has_value()) return std::nullopt;
    stages.push_back(*std::move(stage));
  }
  return stages;
}

json JsonOf(const model::Origin& origin) {
  json object = {{"transforms", JsonOf(origin.transforms)}};
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
