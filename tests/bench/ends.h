// A source and a sink that cost nothing, so that a bench measures what lies between them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "dataplane/memory/slot_pool.h"
#include "dataplane/sink.h"
#include "dataplane/source.h"

namespace tapedeck::bench {

struct Passthrough {
  uint64_t blocks = 0;
  // Computes a check value for every block, as a source must; without, the receiving end must not
  // check.
  bool crc = true;
  // After the last block it waits to be ended, like an instrument that is silent.
  bool endless = false;
};

// Gives whatever lies in the ring's slots.
std::unique_ptr<dataplane::Source> MakePassthroughSource(std::shared_ptr<dataplane::SlotPool> ring,
                                                         const Passthrough& what);

// Drops blocks; the session has checked them. `on_first`, which may be null, is called at the
// first.
std::unique_ptr<dataplane::Sink> MakeNullSink(std::function<void()> on_first);

// A ring of host memory.
absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeHostRing(uint64_t slots,
                                                                  uint64_t slot_bytes);

}  // namespace tapedeck::bench
