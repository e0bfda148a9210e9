// The ladder by which a GPU's memory reaches the network: dma-buf, nvidia-peermem, and the copy
// through pinned host memory that always works. Which rung serves a rail in a direction follows
// from what probes have moved, and is said in words.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "dataplane/ladder/probe.h"

namespace tapedeck::dataplane::ladder {

enum class Rung { kDmaBuf, kPeerMemory, kBounce };

// "dma-buf", "nvidia-peermem", "host bounce".
absl::string_view NameOf(Rung rung);

// What the two direct rungs did on one rail in one direction.
struct Evidence {
  std::string rail;
  uint64_t wire_limit_bytes_per_s = 0;  // of the rail; 0 unknown
  ProbeResult dma_buf;
  ProbeResult peer_memory;
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
