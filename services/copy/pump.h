// Blocks of a recording, one after the other, from where they are read to where they are used:
// written, compared or judged. One thread that may wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/status_macros.h"
#include "services/copy/pace.h"

namespace tapedeck::services::copying {

// The next block, none behind the last. Its sequence counts from the first that is given. Its
// payload has been checked; one that is missing or damaged has kBlockMissing.
using NextBlock = std::function<absl::StatusOr<std::optional<dataplane::Block>>()>;

// Its sequence is that in the recording.
using TakeBlock = std::function<absl::Status(dataplane::Block)>;

// What a player gives by Next(), or why it has not begun.
template <typename Player>
absl::StatusOr<NextBlock> BlocksOf(absl::StatusOr<std::unique_ptr<Player>> begun) {
  TD_RETURN_IF_ERROR(begun.status());
  return [player = std::shared_ptr<Player>(*std::move(begun))] { return player->Next(); };
}

struct PumpRange {
  std::string recording;  // that gives them
  uint64_t first = 0;
  uint64_t end = 0;
};

// Gives `take` each block of the range, in order and no faster than `pace` has it. DATA_LOSS
// (BLOCK_DAMAGED): another block came, or none; CANCELLED (JOB_CANCELLED); what `next` and `take`
// fail with.
absl::Status PumpBlocks(const PumpRange& range, const NextBlock& next, const TakeBlock& take,
                        Pace& pace);

// `slot` with header and payload of `read`, whose slot is given back. The CRC32C goes with it, so
// that a reader finds what has changed on the way.
dataplane::Block CopyInto(dataplane::Block slot, dataplane::Block read);

inline bool IsMissing(const dataplane::BlockHeader& header) {
  return (header.flags & dataplane::kBlockMissing) != 0;
}

}  // namespace tapedeck::services::copying
