// Turns structs of the model into the JSON objects on disks and back, by their lists of fields
// (services/model/words/field.h). Each field has its name, times and durations NAME_ns.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/model/words/field.h"
#include "services/model/words/names.h"
#include "storage_node/format/json_fields.h"

namespace tapedeck::storage_node::format {

// Of a struct's field that an object of JSON has.
class StoredField {
 public:
  StoredField(JsonFields& fields, const services::model::FieldTraits& field)
      : fields_(fields), field_(field), key_(KeyOf(field)) {}

  static std::string KeyOf(const services::model::FieldTraits& field) {
    using services::model::Unit;
    const bool ns = field.unit == Unit::kTime || field.unit == Unit::kDuration;
    return absl::StrCat(field.name, ns ? "_ns" : "");
  }

  // What is absent, or bad, is zero or empty; what is bad is told to the JsonFields.
  void Read(std::string& value) { value = fields_.Text(key_.c_str()); }
  void Read(double& value) { value = fields_.Rate(key_.c_str()); }
  void Read(bool& value) { value = fields_.Bool(key_.c_str()); }
  void Read(uint64_t& value) { value = fields_.Uint(key_.c_str(), field_.most); }
  void Read(uint32_t& value) {
    value = fields_.Uint32(key_.c_str(),
                           static_cast<uint32_t>(std::min<uint64_t>(field_.most, UINT32_MAX)));
  }
  void Read(int64_t& ns);
  void Read(std::vector<std::string>& values);
  template <typename Struct>
  requires requires { services::model::Fields<Struct>::kList; }
  void Read(Struct& value);
  template <typename Struct>
  requires requires { services::model::Fields<Struct>::kList; }
  void Read(std::vector<Struct>& values);
  void Read(std::map<std::string, std::string>& values) { values = fields_.Texts(key_.c_str()); }

  // Its word, which must be there.
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void Read(Enum& value) {
    const auto found = services::model::EnumNamed<Enum>(fields_.Text(key_.c_str()));
    fields_.Require(found.ok(), key_.c_str(), absl::StrCat("is bad: ", found.status().message()));
    if (found.ok()) value = *found;
  }
  // Its word, or an empty one.
  template <typename Enum>
  void Read(std::optional<Enum>& value) {
    value.reset();
    if (!fields_.Text(key_.c_str()).empty()) Read(value.emplace());
  }

 private:
  // What the object has of it, as a Struct.
  template <typename Struct>
  Struct ReadObject(const nlohmann::json& object);

  JsonFields& fields_;
  const services::model::FieldTraits& field_;
  const std::string key_;
};

template <typename Struct>
void WriteStored(const Struct& from, nlohmann::json& to);
template <typename Struct>
Struct ReadStored(JsonFields& from);

template <typename Struct>
requires requires { services::model::Fields<Struct>::kList; }
nlohmann::json StoredValue(const Struct& value) {
  nlohmann::json object = nlohmann::json::object();
  WriteStored(value, object);
  return object;
}

template <typename Struct>
requires requires { services::model::Fields<Struct>::kList; }
nlohmann::json StoredValue(const std::vector<Struct>& values) {
  nlohmann::json list = nlohmann::json::array();
  for (const Struct& value : values) list.push_back(StoredValue(value));
  return list;
}

template <typename Value>
nlohmann::json StoredValue(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return services::model::NameOf(value);
  } else {
    return value;
  }
}

template <typename Enum>
nlohmann::json StoredValue(const std::optional<Enum>& value) {
  return value.has_value() ? StoredValue(*value) : nlohmann::json("");
}

template <typename Struct>
void WriteStored(const Struct& from, nlohmann::json& to) {
  services::model::ForEachField<Struct>([&](const auto& field) {
    if (field.kept()) to[StoredField::KeyOf(field)] = StoredValue(from.*field.member);
  });
}

// See JsonFields::status() afterwards.
template <typename Struct>
Struct ReadStored(JsonFields& from) {
  Struct to;
  services::model::ForEachField<Struct>([&](const auto& field) {
    if (field.kept()) StoredField(from, field).Read(to.*field.member);
  });
  return to;
}

template <typename Struct>
Struct StoredField::ReadObject(const nlohmann::json& object) {
  JsonFields inner(object, key_);
  Struct value = ReadStored<Struct>(inner);
  fields_.Require(inner.status().ok(), key_.c_str(),
                  absl::StrCat("is bad: ", inner.status().message()));
  return value;
}

template <typename Struct>
requires requires { services::model::Fields<Struct>::kList; }
void StoredField::Read(Struct& value) { value = ReadObject<Struct>(fields_.Map(key_.c_str())); }

template <typename Struct>
requires requires { services::model::Fields<Struct>::kList; }
void StoredField::Read(std::vector<Struct>& values) {
  for (const nlohmann::json& one : fields_.List(key_.c_str())) {
    fields_.Require(one.is_object(), key_.c_str(), "has one that is not an object");
    if (one.is_object()) values.push_back(ReadObject<Struct>(one));
  }
}

}  // namespace tapedeck::storage_node::format
