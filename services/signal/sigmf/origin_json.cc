#include "services/signal/sigmf/origin_json.h"

#include <utility>

#include "absl/time/time.h"

namespace tapedeck::services::sigmf {

using nlohmann::json;

namespace {

// As a manifest has them. Beside the most of metadata they leave room for the rest of an origin.
constexpr size_t kMostBytes = 8 << 10;

json StageJson(const model::OriginStage& stage) {
  return {{"name", stage.name}, {"parameters", stage.parameters}};
}

std::optional<model::OriginStage> StageIn(const json& object) {
  if (!object.is_object() || !object.value("name", json()).is_string()) return std::nullopt;
  model::OriginStage stage{.name = object["name"].get<std::string>()};
  const json parameters = object.value("parameters", json::object());
  if (!parameters.is_object()) return std::nullopt;
  for (const auto& [name, value] : parameters.items()) {
    if (!value.is_string()) return std::nullopt;
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
  if (!list.is_array()) return std::nullopt;
  model::Origin origin;
  for (const json& one : list) {
    auto stage = StageIn(one);
    if (!stage.has_value()) return std::nullopt;
    origin.transforms.push_back(*std::move(stage));
  }
  if (!OriginProblem(origin).empty() || WrittenBytes(origin) > kMostBytes) return std::nullopt;
  return std::move(origin.transforms);
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
