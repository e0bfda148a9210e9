// The ladder of ways from a GPU's memory to the network. The rungs are dma-buf, nvidia-peermem, the
// copy to and from a peer's memory on the same machine, and the copy through pinned host memory.
// The last one always works. The data that probes have moved decides which rung serves a rail in a
// direction, and a text says why.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "dataplane/ladder/probe.h"

namespace tapedeck::dataplane::ladder {

enum class Rung { kDmaBuf, kPeerMemory, kPeerCopy, kBounce };

// "dma-buf", "nvidia-peermem", "peer copy", "host bounce".
absl::string_view NameOf(Rung rung);

// What the direct rungs did on one rail in one direction: those of ports; a rail of kind ipc has
// none but its own.
struct Evidence {
  std::string rail;
  uint64_t wire_limit_bytes_per_s = 0;  // of the rail; 0 unknown
  ProbeResult dma_buf;
  ProbeResult peer_memory;
  // On a rail of kind ipc: whether the device exports memory to other processes. Who opens it finds
  // out with its connection.
  absl::Status peer_copy = absl::UnimplementedError("not a rail of kind ipc");
};

struct RungChoice {
  Rung rung = Rung::kBounce;
  std::string why;
};

RungChoice ChooseRung(const Evidence& evidence);

// One ring serves all rails of a job, registered in one way: the highest rung that every rail can
// use.
RungChoice ChooseRung(std::span<const Evidence> rails);

}  // namespace tapedeck::dataplane::ladder
