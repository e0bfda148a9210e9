// What programs that serve from a device, for scripts, have in common.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "gpu_worker/device/list.h"
#include "tests/gpu_worker/sockets/blocks.h"

namespace tapedeck::gpu_worker::sockets {

// As scripts of tests/e2e end that are skipped.
inline constexpr int kNoDevice = 77;

// Says why; the status to end with.
inline int Fail(const std::string& why, int status = 1) {
  std::cerr << why << "\n";
  return status;
}

// Tells a script where it is served; then until standard input ends, or so many seconds have
// passed.
inline void SayPortAndAwaitEnd(uint32_t port, int seconds) {
  std::cout << "port " << port << std::endl;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char some[64];
  while (poll(&input, 1, seconds * 1000) > 0 && read(STDIN_FILENO, some, sizeof(some)) > 0) {
  }
}

// A kernel must end by itself before it is given up.
inline bool IsServingTime(int seconds) { return seconds >= 1 && seconds < kMostRunSeconds; }

// `serve(device)` is a status; kNoDevice where this machine has none of this kind.
template <typename Serve>
int OnDeviceOfKind(const std::string& kind, Serve serve) {
  for (const device::DeviceEntry& entry : device::DeviceEntries()) {
    if (entry.kind != kind) continue;
    const auto device = entry.create(0);
    if (!device.ok()) return Fail(std::string(device.status().message()), kNoDevice);
    return serve(**device);
  }
  return Fail("no kind of device: " + kind, 2);
}

// Whether these kernels are loaded, or none is needed; else it says why.
template <typename... Programs>
bool AreLoaded(const device::Device& device) {
  if (device.info().works_in_host_memory) return true;
  for (const std::string& error : {LoadOnGpu<Programs>()...}) {
    if (!error.empty()) return Fail(error) == 0;
  }
  return true;
}

}  // namespace tapedeck::gpu_worker::sockets
