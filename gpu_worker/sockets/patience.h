// How long a call of a kernel waits for what another one does. C++17, for nvcc and for g++.
#pragma once

#include <cerrno>
#include <cstdint>

#include "gpu_worker/sockets/block.h"

namespace tapedeck::gpu_worker::sockets {

// Longer waits are refused with EINVAL: nothing waits for ever. One that has nothing else to do
// waits again.
inline constexpr int64_t kMostTimeoutNs = int64_t{3600} * 1'000'000'000;

TAPEDECK_ANYWHERE bool IsTimeout(int64_t timeout_ns) {
  return timeout_ns >= 0 && timeout_ns <= kMostTimeoutNs;
}

// `timeout_ns` 0: it does not wait.
struct Patience {
  int64_t timeout_ns;
  int64_t deadline_ns;
  uint32_t looks;
};
TAPEDECK_ANYWHERE Patience PatienceOf(int64_t timeout_ns) {
  return {timeout_ns, timeout_ns > 0 ? NowNs() + timeout_ns : 0, 0};
}

// Waits a moment before another look, and returns 0; or why there is to be none: -EAGAIN where
// nothing is waited for, -ETIMEDOUT.
TAPEDECK_ANYWHERE int64_t AwaitNextLook(Patience& patience) {
  if (patience.timeout_ns == 0) return -EAGAIN;
  if (NowNs() >= patience.deadline_ns) return -ETIMEDOUT;
  PauseBetweenLooks(patience.looks++);
  return 0;
}

}  // namespace tapedeck::gpu_worker::sockets
