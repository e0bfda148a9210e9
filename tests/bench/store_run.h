// A LUN's store beneath the product's own writer and reader, without a network: blocks from memory
// that costs nothing, CRC32C made and checked, index and group commit on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block/flow.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::bench {

struct StoreRun {
  std::string kind = "direct";
  std::vector<std::string> members;  // directories, empty
  uint64_t blocks = 0;
  uint64_t block_bytes = 1 << 20;
  // Of the ring, and how many blocks may be beyond what `commit` acknowledges.
  uint32_t slots = 64;
  dataplane::CommitLevel commit = dataplane::CommitLevel::kDurable;
  // Into files all of whose bytes were written before.
  bool prewritten = false;
};

struct StoreRates {
  int64_t write_ns = 0;  // first block to the sealed recording
  int64_t read_ns = 0;   // the recording's pages were dropped from the page cache before
  double write_cpu_s = 0;
  double read_cpu_s = 0;
};

// Makes a LUN, and waits for its spare files if it has any; records, plays, removes the LUN.
absl::StatusOr<StoreRates> RunStore(const StoreRun& run);

}  // namespace tapedeck::bench
