// The memory in which kernels and the proxy meet: made once, before a kernel that uses it starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"
#include "gpu_worker/device/device.h"
#include "gpu_worker/sockets/layout.h"

namespace tapedeck::gpu_worker::sockets {

struct TableShape {
  uint32_t sockets = 256;       // 1 to kMostSockets, listeners among them
  uint64_t ring_bytes = 65536;  // of each of a socket's two rings: IsRingCapacity
};

// All rings of a table together; they lie in memory that is pinned for the device.
inline constexpr uint64_t kMostTableBytes = uint64_t{1} << 30;

// Owns the memory. The proxy's lines and the rings lie in host memory that the device maps; what
// the kernel alone needs, in memory of the device. Outlives its proxy and every kernel that has its
// Net.
class SocketTable {
 public:
  // Waits for the device to have the memory cleared: no kernel that runs on and on may be under
  // way. INVALID_ARGUMENT for a shape that is none; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<SocketTable>> Create(device::Device& device,
                                                             const TableShape& shape);

  // For kernels of the device; on the host's device for threads, too. Any thread.
  const Net& net() const { return net_; }

 private:
  SocketTable(std::unique_ptr<dataplane::Memory> shared, std::unique_ptr<dataplane::Memory> own,
              const TableShape& shape);

  const std::unique_ptr<dataplane::Memory> shared_;
  const std::unique_ptr<dataplane::Memory> own_;
  const Net net_;
};

}  // namespace tapedeck::gpu_worker::sockets
