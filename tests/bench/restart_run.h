// How long a storage node takes to start over a LUN with many recordings and a long one that a
// crash left open.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tapedeck::bench {

struct RestartRun {
  std::string directory;  // empty; on a file system with sparse files
  uint64_t recordings = 1000;
  uint64_t open_blocks = 1 << 20;  // of 1 MiB: 1 TiB
  // Of the open one, above its last watermark: 100 ms of two ports.
  uint64_t unmarked_blocks = 596;
};

struct RestartTimes {
  int64_t restart_ns = 0;  // the catalog knows the closed recordings
  int64_t rebuild_ns = 0;  // the catalog is gone
};

absl::StatusOr<RestartTimes> RunRestart(const RestartRun& run);

}  // namespace tapedeck::bench
