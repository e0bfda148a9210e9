// Time is injected: the data path never reads the system clock itself, so that the simulator can
// run it on virtual time.
#pragma once

#include <cstdint>

namespace tapedeck::dataplane {

// Any thread may call.
class Clock {
 public:
  virtual ~Clock() = default;

  // Monotonic nanoseconds from an arbitrary start. Every timeout uses this.
  virtual int64_t NowNs() const = 0;

  // UTC nanoseconds since the Unix epoch. A label only: it may step.
  virtual int64_t WallNs() const = 0;
};

class SystemClock final : public Clock {
 public:
  int64_t NowNs() const override;
  int64_t WallNs() const override;
};

inline constexpr int64_t kMicrosecondNs = 1'000;
inline constexpr int64_t kMillisecondNs = 1'000'000;
inline constexpr int64_t kSecondNs = 1'000'000'000;

}  // namespace tapedeck::dataplane
