#include "storage_node/format/json_text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/crc32c.h"

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

const json* Find(const json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

}  // namespace

std::string SealJson(json object) {
  object.erase(kCrcKey);
  const std::string crc = CrcOf(object);
  object[kCrcKey] = crc;
  return Dump(object, 2) + "\n";
}

absl::StatusOr<json> OpenJson(absl::string_view text, absl::string_view what) {
  json object = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return absl::DataLossError(absl::StrCat(what, ": not a JSON object"));
  }
  const std::string found = StringAt(object, kCrcKey);
  object.erase(kCrcKey);
  if (const std::string expected = CrcOf(object); found != expected) {
    return absl::DataLossError(
        absl::StrCat(what, ": crc32c is '", found, "', expected ", expected));
  }
  return object;
}

std::string StringAt(const json& object, const char* key) {
  const json* value = Find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

uint64_t UintAt(const json& object, const char* key) {
  const json* value = Find(object, key);
  return value != nullptr && value->is_number_unsigned() ? value->get<uint64_t>() : 0;
}

int64_t IntAt(const json& object, const char* key) {
  const json* value = Find(object, key);
  return value != nullptr && value->is_number_integer() ? value->get<int64_t>() : 0;
}

double DoubleAt(const json& object, const char* key) {
  const json* value = Find(object, key);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

}  // namespace tapedeck::storage_node::format
