#include "storage_node/format/json_fields.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::storage_node::format {

using nlohmann::json;
namespace {

const json& EmptyList() {
  static const json empty = json::array();
  return empty;
}

const json& EmptyMap() {
  static const json empty = json::object();
  return empty;
}

}  // namespace

const json* JsonFields::Find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

JsonFields& JsonFields::Require(bool good, const char* key, absl::string_view problem) {
  if (!good && status_.ok()) {
    status_ = absl::DataLossError(absl::StrCat(what_, ": ", key, " ", problem));
  }
  return *this;
}

std::string JsonFields::Text(const char* key) {
  const json* value = Find(key);
  if (value == nullptr) return "";
  Require(value->is_string(), key, "is not a text");
  return value->is_string() ? value->get<std::string>() : "";
}

std::string JsonFields::Id(const char* key) {
  std::string id = Text(key);
  if (const absl::Status checked = services::CheckId(id); !checked.ok()) {
    Require(false, key, absl::StrCat("is not an id: ", checked.message()));
    return "";
  }
  return id;
}

uint64_t JsonFields::Uint(const char* key, uint64_t most) {
  const json* value = Find(key);
  if (value == nullptr) return 0;
  const bool good = value->is_number_unsigned() && value->get<uint64_t>() <= most;
  Require(good, key, absl::StrCat("is not a number from 0 to ", most));
  return good ? value->get<uint64_t>() : 0;
}

int64_t JsonFields::Int(const char* key, int64_t least, int64_t most) {
  const json* value = Find(key);
  if (value == nullptr) return 0;
  const bool fits = value->is_number_unsigned()
                        ? value->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)
                        : value->is_number_integer();
  const bool good = fits && value->get<int64_t>() >= least && value->get<int64_t>() <= most;
  Require(good, key, absl::StrCat("is not a number from ", least, " to ", most));
  return good ? value->get<int64_t>() : 0;
}

std::optional<int64_t> JsonFields::IntOrNone(const char* key, int64_t least, int64_t most) {
  if (Find(key) == nullptr) return std::nullopt;
  return Int(key, least, most);
}

double JsonFields::Rate(const char* key) {
  const json* value = Find(key);
  if (value == nullptr) return 0;
  const double number = value->is_number() ? value->get<double>() : -1;
  const bool good = std::isfinite(number) && number >= 0;
  Require(good, key, "is not a number of 0 or more");
  return good ? number : 0;
}

bool JsonFields::Bool(const char* key) {
  const json* value = Find(key);
  if (value == nullptr) return false;
  Require(value->is_boolean(), key, "is neither true nor false");
  return value->is_boolean() && value->get<bool>();
}

std::map<std::string, std::string> JsonFields::Texts(const char* key) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : Map(key).items()) {
    Require(value.is_string(), key, "has one that is not a text");
    if (value.is_string()) texts[name] = value.get<std::string>();
  }
  return texts;
}

const json& JsonFields::List(const char* key) {
  const json* value = Find(key);
  if (value == nullptr) return EmptyList();
  Require(value->is_array(), key, "is not a list");
  return value->is_array() ? *value : EmptyList();
}

const json& JsonFields::Map(const char* key) {
  const json* value = Find(key);
  if (value == nullptr) return EmptyMap();
  Require(value->is_object(), key, "is not an object");
  return value->is_object() ? *value : EmptyMap();
}

}  // namespace tapedeck::storage_node::format
