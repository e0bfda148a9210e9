// A program that makes a socket listen over loopback, for the one that serves it. C++17, for nvcc
// and for g++.
#pragma once

#include <cstdint>

#include "gpu_worker/sockets/sockets_device.h"

namespace tapedeck::gpu_worker::sockets {

// In memory that the CPU sees.
struct ListenResult {
  int64_t handle;  // or a negative errno
  int64_t port;
};

struct Listen {
  static constexpr uint32_t kLanes = 32;

  Net net;
  ListenResult* result;

  TAPEDECK_ANYWHERE void RunBlock(uint32_t) const {
    const int64_t handle = glisten(net, 0x7f000001, 0, 5'000'000'000);
    const int64_t port = gport(net, handle);
    if (IsFirstLane()) *result = {handle, port};
  }
};

}  // namespace tapedeck::gpu_worker::sockets
