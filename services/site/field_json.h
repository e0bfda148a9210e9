// Structs of the model as JSON for people and programs, by their lists of fields
// (services/model/words/field.h). nlohmann's JSON is slow to compile: see answer.h.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "services/model/words/field.h"
#include "services/model/words/names.h"
#include "services/site/json.h"
#include "services/site/units.h"

namespace tapedeck::services::tapectl {

inline Json TimeOf(int64_t time_ns) {
  return time_ns == 0 ? Json() : Json(FormatExactTime(time_ns));
}
inline double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

template <typename Struct>
Json FieldsAsJson(const Struct& from);

template <typename Value>
Json AsJson(const model::FieldTraits&, const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return model::NameOf(value);
  } else {
    return value;
  }
}

inline Json AsJson(const model::FieldTraits& field, int64_t ns) {
  return field.unit == model::Unit::kTime ? TimeOf(ns) : Json(Seconds(ns));
}

// A time that may be unknown; 0 is one.
inline Json AsJson(const model::FieldTraits&, std::optional<int64_t> time_ns) {
  return time_ns.has_value() ? Json(FormatExactTime(*time_ns)) : Json();
}

template <typename Value>
Json AsJson(const model::FieldTraits& field, const std::optional<Value>& value) {
  return value.has_value() ? AsJson(field, *value) : Json();
}

template <typename Struct>
requires requires { model::Fields<Struct>::kList; }
Json AsJson(const model::FieldTraits&, const std::vector<Struct>& list) {
  Json out = Json::array();
  for (const Struct& one : list) out.push_back(FieldsAsJson(one));
  return out;
}

template <typename Struct>
requires requires { model::Fields<Struct>::kList; }
Json AsJson(const model::FieldTraits&, const Struct& one) { return FieldsAsJson(one); }

template <typename Struct>
requires requires { model::Fields<Struct>::kList; }
Json AsJson(const model::FieldTraits&, const std::optional<Struct>& one) {
  return one.has_value() ? FieldsAsJson(*one) : Json();
}

template <typename Struct>
Json FieldsAsJson(const Struct& from) {
  Json out = Json::object();
  model::ForEachField<Struct>([&](const auto& field) {
    if (!field.told()) return;
    const bool seconds = field.unit == model::Unit::kDuration;
    out[absl::StrCat(field.name, seconds ? "_s" : "")] = AsJson(field, from.*field.member);
  });
  return out;
}

}  // namespace tapedeck::services::tapectl
