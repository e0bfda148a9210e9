// Whether a rail can move data to and from a kind of memory. The probe moves data through the
// rail's own port and compares every byte. A registration that succeeds proves nothing: the port
// may be unable to reach the memory, in both directions or in one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "dataplane/block/flow.h"
#include "dataplane/memory/memory.h"
#include "dataplane/transport/transport.h"

namespace tapedeck::dataplane::ladder {

// Memory under test, with the functions by which its owner, not the rail, fills and reads its first
// bytes. They are called on the probing thread and may wait.
struct ProbeMemory {
  std::shared_ptr<const Memory> memory;  // kept as long as the rail may touch it
  MemoryWindow window;                   // of it, with or without its dma-buf: that is tested, too
  std::shared_ptr<const Memory> host;    // as large, for the other end; kept likewise
  std::function<absl::Status(std::span<const std::byte>)> write;
  // First makes visible what the rail has written.
  std::function<absl::Status(std::span<std::byte>)> read;
};

struct ProbeResult {
  absl::Status status;       // OK, or why not, in words
  uint64_t bytes_per_s = 0;  // of the fastest whole block
};

// A port that has not answered by then is no port to record over.
inline constexpr int64_t kProbeDeadlineNs = 5 * kSecondNs;

// Moves 4 KiB and whole blocks (all of the window) between the memory and host memory. Recording
// makes the rail read the memory, playback makes it write; reading is the fragile half: some
// chipsets pass only writes between devices. For rails whose own offers can meet each other. Called
// on a thread that may wait and is not the rail's poller; answers within the deadline, whatever the
// rail does. The last operations of a rail that hangs may outlive the call: they keep what they
// touch.
ProbeResult Probe(Transport& rail, Direction direction, const ProbeMemory& memory);

}  // namespace tapedeck::dataplane::ladder
