// JSON of a file that anybody may have written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tapedeck::services::sigmf {

inline constexpr int kMaxForeignDepth = 32;

// Null where it is none, or nested deeper than anything that is read here: the library copies what
// is nested by calls within calls.
inline nlohmann::json ParseForeign(const std::string& text) {
  bool deep = false;
  nlohmann::json object = nlohmann::json::parse(
      text,
      [&deep](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        deep = deep || depth > kMaxForeignDepth;
        return !deep;
      },
      /*allow_exceptions=*/false);
  if (deep || object.is_discarded()) return nullptr;
  return object;
}

// The same of an object alone.
inline nlohmann::json ObjectOf(const std::string& text) {
  nlohmann::json object = ParseForeign(text);
  return object.is_object() ? object : nullptr;
}

}  // namespace tapedeck::services::sigmf
