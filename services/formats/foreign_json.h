// JSON of a file that anybody may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tapedeck::services::formats {

// Null where it is none, or nested deeper than anything that is read here: the library copies what
// is nested by calls within calls.
inline nlohmann::json ParseForeign(const std::string& text) {
  constexpr int kMaxDepth = 32;
  bool deep = false;
  nlohmann::json object = nlohmann::json::parse(
      text,
      [&deep](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        deep = deep || depth > kMaxDepth;
        return !deep;
      },
      /*allow_exceptions=*/false);
  if (deep || object.is_discarded()) return nullptr;
  return object;
}

}  // namespace tapedeck::services::formats
