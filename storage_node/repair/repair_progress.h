// What the repair of a recording's copies tells a scrub.
#pragma once

#include <cstdint>
#include <vector>

#include "services/model/recording/recording.h"

namespace tapedeck::storage_node::repair {

struct CopyDamage {
  // Of kind "index", "header" for the pages before the entries, "manifest", or as a block's.
  services::DamagedBlock block;
  bool repaired = false;  // rewritten, flushed, and read back
};

// Since the last report.
struct RepairProgress {
  uint64_t bytes = 0;  // read and written
  std::vector<CopyDamage> damaged;
};

}  // namespace tapedeck::storage_node::repair
