// What a rail has carried: of a session, of a job, or of a node.
#pragma once

#include <cstdint>
#include <string>

namespace tapedeck::services::model {

struct RailProgress {
  std::string name;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  bool up = false;
  std::string cause;  // of the last failure
  bool operator==(const RailProgress&) const = default;
};

}  // namespace tapedeck::services::model
