#include "services/signal/sigmf/collection.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "services/signal/sigmf/origin_json.h"
#include "services/signal/sigmf/sha512.h"
#include "services/signal/sigmf/text.h"

namespace tapedeck::services::sigmf {

using nlohmann::json;

std::string Encode(const Collection& collection) {
  // As tuples: the specification has objects beside them, which its published schema refuses.
  json streams = json::array();
  for (const CollectedStream& stream : collection.streams) {
    streams.push_back(json::array({stream.name, Sha512(stream.meta)}));
  }
  json told = {
      {"core:version", kVersion},
      {"core:extensions", {{{"name", "tapedeck"}, {"version", "1.0.0"}, {"optional", true}}}},
      {"core:streams", std::move(streams)}};
  if (!collection.description.empty()) told["core:description"] = collection.description;
  if (collection.group.has_value()) {
    json group = JsonOf(*collection.group);
    for (const char* of_one : {"number", "clock", "clock_error_ns"}) group.erase(of_one);
    told["tapedeck:group"] = std::move(group);
  }
  const json object = {{"collection", std::move(told)}};
  return object.dump(2, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace) + "\n";
}

}  // namespace tapedeck::services::sigmf
