#include "dataplane/clock.h"

#include <chrono>

namespace tapedeck::dataplane {

int64_t SystemClock::NowNs() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// By the kernel: now.h says why.
int64_t SystemClock::WallNs() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace tapedeck::dataplane
