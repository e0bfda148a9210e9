// A source and a sink that cost nothing, so that a bench measures what lies between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

#include "dataplane/block/sink.h"
#include "dataplane/block/source.h"
#include "dataplane/clock.h"
#include "dataplane/memory/slot_pool.h"
#include "tests/bench/checks.h"

namespace tapedeck::bench {

// The longest time in which an end moved nothing, between its first block and its last.
class GapMeter {
 public:
  explicit GapMeter(const dataplane::Clock& clock) : clock_(clock) {}
  void Moved() {
    const int64_t now_ns = clock_.NowNs();
    if (last_ns_ != 0) longest_ns_ = std::max(longest_ns_, now_ns - last_ns_);
    last_ns_ = now_ns;
  }
  int64_t longest_ns() const { return longest_ns_; }

 private:
  const dataplane::Clock& clock_;
  int64_t last_ns_ = 0;
  int64_t longest_ns_ = 0;
};

struct Passthrough {
  uint64_t blocks = 0;
  Checks crc = Checks::kEach;
  // After the last block it waits to be ended, like an instrument that is silent.
  bool endless = false;
  std::function<void()> on_block;  // may be null
};

// Gives whatever lies in the ring's slots.
std::unique_ptr<dataplane::Source> MakePassthroughSource(std::shared_ptr<dataplane::SlotPool> ring,
                                                         const Passthrough& what);

// Drops blocks; the session has checked them. `on_block` may be null.
std::unique_ptr<dataplane::Sink> MakeNullSink(std::function<void()> on_block);

// A ring of host memory.
absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeHostRing(uint64_t slots,
                                                                  uint64_t slot_bytes);

}  // namespace tapedeck::bench
