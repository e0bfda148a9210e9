// What is written to one LUN, and what is found on it, since it was opened.
#pragma once

#include <atomic>
#include <cstdint>

#include "dataplane/histogram.h"

namespace tapedeck::storage_node::recording {

// Any thread: relaxed counters, each right by itself. Shared by the LUN and all that read or write
// its recordings.
struct LunMeter {
  std::atomic<uint64_t> written_blocks = 0;
  std::atomic<uint64_t> written_bytes = 0;
  // Of each flush that ended well: from when the oldest of its blocks was written.
  dataplane::Histogram commit_latency;
  std::atomic<uint64_t> failed_flushes = 0;
  std::atomic<uint64_t> scrubbed_blocks = 0;
  std::atomic<uint64_t> damaged_by_scrub = 0;     // found by one
  std::atomic<uint64_t> repaired_by_scrub = 0;    // of those
  std::atomic<uint64_t> damaged_in_playback = 0;  // met there
  // By the policies of its channels, to other LUNs.
  std::atomic<uint64_t> moved_recordings = 0;
  std::atomic<uint64_t> moved_bytes = 0;
  std::atomic<uint64_t> failed_moves = 0;
  std::atomic<double> bytes_per_s = 0;  // written, over the last while
};

}  // namespace tapedeck::storage_node::recording
