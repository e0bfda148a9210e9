// How fast a recording is moved, and whether it is to go on. One thread that may wait.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "services/copying/pace.h"

namespace tapedeck::storage_node::moving {

// What a scrub reads unless it is told, too: a twentieth of a fast drive.
inline constexpr uint64_t kDefaultRate = 100'000'000;

class Pacing {
 public:
  // 0: kDefaultRate. `go_on` is asked again and again.
  Pacing(uint64_t bytes_per_s, std::function<bool()> go_on)
      : pace_(bytes_per_s == 0 ? kDefaultRate : bytes_per_s), go_on_(std::move(go_on)) {}

  // As long as reading so much may take. CANCELLED: it is not to go on.
  absl::Status Wait(uint64_t bytes) {
    return pace_.Wait(bytes, go_on_) ? absl::OkStatus()
                                     : absl::CancelledError("the storage node ends");
  }

 private:
  services::copying::Pace pace_;
  const std::function<bool()> go_on_;
};

}  // namespace tapedeck::storage_node::moving
