#include "dataplane/clock.h"

#include <chrono>

namespace tapedeck::dataplane {

int64_t SystemClock::NowNs() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Not absl::Now(), which Debian builds to go on by the processor's counter: after a step of the
// machine's clock it tells times that never were, for seconds.
int64_t SystemClock::WallNs() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace tapedeck::dataplane
