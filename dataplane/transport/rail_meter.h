// What has passed over one rail of this node since it started, over all sessions.
#pragma once

#include <atomic>
#include <cstdint>

#include "dataplane/histogram.h"

namespace tapedeck::dataplane {

// Any thread: relaxed counters, each right by itself.
struct RailMeter {
  struct Traffic {
    std::atomic<uint64_t> blocks = 0;
    std::atomic<uint64_t> bytes = 0;

    void Count(uint64_t more_bytes) {
      blocks.fetch_add(1, std::memory_order_relaxed);
      bytes.fetch_add(more_bytes, std::memory_order_relaxed);
    }
  };

  Traffic sent;  // blocks that the peer has taken
  Traffic received;
  std::atomic<uint64_t> links_up = 0;  // connections there are
  std::atomic<uint64_t> failures = 0;  // of connections, and of attempts to connect
  // All else of a session waited for a block that this rail carried.
  std::atomic<int64_t> waited_for_ns = 0;
  // Of blocks that were sent: from where they were given to the sender until the peer acknowledged
  // them at the session's commit level.
  Histogram latency;
};

}  // namespace tapedeck::dataplane
