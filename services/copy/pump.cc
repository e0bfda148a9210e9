#include "services/copy/pump.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services::copying {

using dataplane::Block;

absl::Status PumpBlocks(const PumpRange& range, const NextBlock& next, const TakeBlock& take,
                        Pace& pace) {
  for (uint64_t sequence = range.first; sequence < range.end; ++sequence) {
    TD_ASSIGN_OR_RETURN(std::optional<Block> read, next());
    if (!read.has_value() || read->header().sequence != sequence - range.first) {
      return BlockDamaged({.recording = range.recording, .blocks = 1},
                          absl::StrCat(range.recording, " has ", range.end, " blocks, and block ",
                                       sequence, " did not come"));
    }
    read->header().sequence = sequence;
    const uint64_t bytes = read->header().payload_bytes;
    TD_RETURN_IF_ERROR(take(*std::move(read)));
    TD_RETURN_IF_ERROR(pace.Wait(bytes));
  }
  return absl::OkStatus();
}

Block CopyInto(Block slot, Block read) {
  slot.header() = read.header();
  slot.header().recording = 0;
  if (!IsMissing(read.header())) {
    std::memcpy(slot.memory().data(), read.payload().data(), read.header().payload_bytes);
  }
  return slot;
}

}  // namespace tapedeck::services::copying
