// Whether a copy that somebody has made before holds the blocks of its original. One thread that
// may wait.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "services/copy/copy.h"
#include "services/copy/pace.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::services::copying {

// Compares CRC32C, length, sample index, time and flags of each block of `source` with those of the
// copy, whose blocks both give from the first on. A block that the source has no more may be
// anything. DATA_LOSS (BLOCK_DAMAGED): it is no copy; CANCELLED (JOB_CANCELLED); what reading fails
// with.
absl::Status CompareBlocks(const Recording& source, const std::string& copy,
                           const NextBlock& of_source, const NextBlock& of_copy, Pace& pace);

// The same of what `wish.from` and `wish.to` play, no faster than `wish` says.
absl::Status CompareCopy(const Wish& wish, const Recording& copy);

}  // namespace tapedeck::services::copying
