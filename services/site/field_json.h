// Structs of the model as JSON for people and programs, by their lists of fields
// (services/model/words/field.h). nlohmann's JSON is slow to compile: see answer.h.
#pragma once

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
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

inline Json AsJson(const model::FieldTraits& field, int64_t value) {
  if (field.unit == model::Unit::kTime) return TimeOf(value);
  return field.unit == model::Unit::kDuration ? Json(Seconds(value)) : Json(value);
}

// Rates to a kilobyte: more digits are noise.
inline Json AsJson(const model::FieldTraits& field, double value) {
  return field.unit == model::Unit::kMegabytesPerS ? std::round(value * 1e3) / 1e3 : value;
}

// dB to a hundredth; null where nothing is there.
inline Json AsJson(const model::FieldTraits& field, const std::vector<float>& values) {
  const bool decibels = field.unit == model::Unit::kDecibels;
  Json out = Json::array();
  for (const double value : values) {
    out.push_back(std::isnan(value) ? Json()
                                    : Json(decibels ? std::round(value * 100) / 100 : value));
  }
  return out;
}

inline Json AsJson(const model::FieldTraits&, const absl::Status& status) { return ToJson(status); }

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

template <typename Value>
bool SaysNothing(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (requires { value.ok(); }) {
    return value.ok();
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return value == 0;
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return false;
  }
}

template <typename Struct>
Json FieldsAsJson(const Struct& from) {
  Json out = Json::object();
  model::ForEachField<Struct>([&](const auto& field) {
    const auto& value = std::invoke(field.member, from);
    if (!field.told() || (field.sparse && SaysNothing(value))) return;
    const bool seconds = field.unit == model::Unit::kDuration;
    if (field.flat) {
      out.update(AsJson(field, value));
    } else {
      out[absl::StrCat(field.name, seconds ? "_s" : "")] = AsJson(field, value);
    }
  });
  return out;
}

}  // namespace tapedeck::services::tapectl
