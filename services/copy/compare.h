// Whether a copy holds the blocks of its original: the one way to say so, of copies on other nodes
// as of those on another LUN. One thread that may wait.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/copy/pump.h"

namespace tapedeck::services::copying {

struct Compared {
  std::string original;  // names of recordings
  std::string copy;
  uint64_t blocks = 0;  // of both
};

// DATA_LOSS (BLOCK_DAMAGED): it is no whole copy, and why. `damaged`: so many of its blocks.
absl::Status NotWhole(const Compared& compared, absl::string_view why, uint64_t damaged = 0);

// Compares CRC32C, length, sample index, time and flags of each block of the original with those of
// the copy, whose blocks both give from the first on. Of the original headers are enough. A block
// that the original has no more may be anything. What NotWhole says, and what PumpBlocks fails
// with.
absl::Status CompareBlocks(const Compared& compared, const NextBlock& of_original,
                           const NextBlock& of_copy, Pace& pace);

}  // namespace tapedeck::services::copying
