// The verify sink: every block present, in order, and equal to the block computed again where the
// recording's labels say how it was made. CRCs are checked before it, by a decorator. It judges the
// whole stream at its end, so that one damaged block does not hide the next.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "gpu_worker/stages/stage.h"
#include "gpu_worker/stages/verify/expected.h"

namespace tapedeck::gpu_worker::stages::verify {

// Written by the work thread, read by any: shared, because the job shows it after the pipeline has
// gone.
struct Counts {
  std::atomic<uint64_t> blocks = 0;      // arrived
  std::atomic<uint64_t> missing = 0;     // never captured, unreadable or not sent
  std::atomic<uint64_t> mismatched = 0;  // arrived, but not what they must be
};

struct SinkSettings {
  uint64_t block_bytes = 0;
  uint64_t blocks = 0;                 // that must come; 0 unknown
  std::unique_ptr<Expected> expected;  // null: content is not compared
};

// Needs blocks in order: a gap in the sequence counts as missing blocks. Close answers DATA_LOSS,
// BLOCK_DAMAGED if blocks are missing, else CONTENT_MISMATCH.
std::unique_ptr<SinkStage> CreateSink(SinkSettings settings, std::shared_ptr<Counts> counts);

}  // namespace tapedeck::gpu_worker::stages::verify
