// What is wrong, where all of it is told and not the first alone.
#pragma once

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

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
