// What is wrong, where all of it is told and not the first alone.
#pragma once

#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace tapedeck::services {

using Faults = std::vector<absl::Status>;

// An OK is none.
inline void AddFault(Faults& faults, absl::Status status) {
  if (!status.ok()) faults.push_back(std::move(status));
}

}  // namespace tapedeck::services
