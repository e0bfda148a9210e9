#include "storage_node/format/json_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::format {
namespace {

using nlohmann::json;

constexpr char kCrcKey[] = "crc32c";

// Labels come from users: what is not UTF-8 is replaced, never thrown at.
std::string Dump(const json& object, int indent) {
  return object.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string CrcOf(const json& object) {
  const std::string text = Dump(object, -1);
  return absl::StrFormat("%08x", dataplane::Crc32c(std::as_bytes(std::span<const char>(text))));
}

// What parsing a text would take: what walks the parsed object calls itself for each level. Of JSON
// as far as it is JSON: the parser stops where it is not.
bool IsTooMuch(absl::string_view text) {
  int depth = 0;
  size_t parts = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == '{' || c == '[' || c == ',') {
      if (c != ',') ++depth;
      ++parts;
    }
    if (depth > kMaxJsonDepth || parts > kMaxJsonParts) return true;
  }
  return false;
}

}  // namespace

std::string SealJson(json object) {
  object.erase(kCrcKey);
  const std::string crc = CrcOf(object);
  object[kCrcKey] = crc;
  return Dump(object, 2) + "\n";
}

absl::StatusOr<json> ParseJson(absl::string_view text, absl::string_view what, uint64_t most) {
  if (text.size() > most) {
    return absl::DataLossError(
        absl::StrCat(what, ": has ", text.size(), " bytes, and at most ", most, " are read"));
  }
  if (IsTooMuch(text)) {
    return absl::DataLossError(absl::StrCat(what, ": nested deeper than ", kMaxJsonDepth,
                                            ", or has more than ", kMaxJsonParts, " values"));
  }
  json object = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return absl::DataLossError(absl::StrCat(what, ": not a JSON object"));
  }
  return object;
}

absl::StatusOr<json> OpenJson(absl::string_view text, absl::string_view what, uint64_t most) {
  TD_ASSIGN_OR_RETURN(json object, ParseJson(text, what, most));
  const auto crc = object.find(kCrcKey);
  const std::string found =
      crc != object.end() && crc->is_string() ? crc->get<std::string>() : std::string();
  object.erase(kCrcKey);
  if (const std::string expected = CrcOf(object); found != expected) {
    return absl::DataLossError(absl::StrCat(what, ": crc32c is '", found.substr(0, expected.size()),
                                            "', expected ", expected));
  }
  return object;
}

}  // namespace tapedeck::storage_node::format
