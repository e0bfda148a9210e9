// What is wrong, where all of it is told and not the first alone.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services {

using Faults = std::vector<absl::Status>;

// An OK is none.
inline void AddFault(Faults& faults, absl::Status status) {
  if (!status.ok()) faults.push_back(std::move(status));
}

// Adds all of `more`.
inline void AddFaults(Faults& faults, const Faults& more) {
  faults.insert(faults.end(), more.begin(), more.end());
}

// Puts the value into `target`, if there is one.
template <typename T>
absl::Status Take(absl::StatusOr<T> from, T& target) {
  if (from.ok()) target = *std::move(from);
  return from.status();
}

}  // namespace tapedeck::services

namespace tapedeck::services::config {

// The result of --check-config.
struct Looked {
  Faults faults;                     // a start ends with them
  Faults warnings;                   // a start goes on without what they name
  std::vector<std::string> checked;  // "2 rails"

  void AddChecked(size_t count, absl::string_view noun) {
    if (count > 0) checked.push_back(absl::StrCat(count, " ", noun, count == 1 ? "" : "s"));
  }
};

}  // namespace tapedeck::services::config
