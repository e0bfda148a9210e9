#include "tests/fuzz/mended_json.h"

#include "storage_node/format/json_text.h"

namespace tapedeck::fuzz {

std::string MendedJson(absl::string_view text) {
  auto object = storage_node::format::ParseJson(text, "text", 1 << 20);
  return object.ok() ? storage_node::format::SealJson(*std::move(object)) : std::string();
}

}  // namespace tapedeck::fuzz
