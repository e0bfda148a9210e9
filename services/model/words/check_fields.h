// What the list of a struct's fields (field.h) says of their values: how much each may be.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/model/words/field.h"

namespace tapedeck::services::model {

template <std::unsigned_integral Value>
absl::Status CheckValue(const FieldTraits& field, Value value) {
  if (value <= field.most) return absl::OkStatus();
  return ArgumentInvalid(field.name, absl::StrCat(field.name, " must be at most ", field.most));
}

// Of a time nothing is said.
template <std::same_as<int64_t> Value>
absl::Status CheckValue(const FieldTraits& field, Value ns) {
  if (field.unit != Unit::kDuration) return absl::OkStatus();
  if (ns < 0) return ArgumentInvalid(field.name, absl::StrCat(field.name, " is negative"));
  const uint64_t most = std::min<uint64_t>(field.most, kMaxDurationNs);
  if (static_cast<uint64_t>(ns) <= most) return absl::OkStatus();
  return ArgumentInvalid(field.name,
                         absl::StrCat(field.name, " must be at most ", most / 1'000'000'000, " s"));
}

template <typename Value>
absl::Status CheckValue(const FieldTraits& field, const std::vector<Value>& values) {
  if (values.size() <= field.most) return absl::OkStatus();
  return ArgumentInvalid(field.name, absl::StrCat(field.name, " are more than ", field.most));
}

// INVALID_ARGUMENT (ARGUMENT_INVALID) names the first field beyond its bounds.
template <typename Struct>
absl::Status CheckFields(const Struct& values) {
  absl::Status status;
  ForEachField<Struct>([&](const auto& field) {
    if constexpr (requires { CheckValue(field, values.*field.member); }) {
      if (status.ok()) status = CheckValue(field, values.*field.member);
    }
  });
  return status;
}

}  // namespace tapedeck::services::model
