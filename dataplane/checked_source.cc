#include "dataplane/checked_source.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/crc32c.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane {

absl::StatusOr<Flow> CheckedSource::Pull(Block* block) {
  while (true) {
    TD_ASSIGN_OR_RETURN(const Flow flow, inner_.Pull(block));
    if (flow != Flow::kMoved || (block->header().flags & kBlockMissing) != 0) return flow;
    const BlockHeader header = block->header();
    const uint32_t found = Crc32c(block->payload());
    if (found == header.crc32c) return flow;
    block->Reset();
    ++crc_errors_;
    rejects_ = header.sequence == last_rejected_ ? rejects_ + 1 : 1;
    last_rejected_ = header.sequence;
    const std::string what = absl::StrFormat("block %d: CRC32C is %08x, its header says %08x",
                                             header.sequence, found, header.crc32c);
    if (rejects_ >= kMaxRejects) {
      return absl::DataLossError(absl::StrCat(what, ", ", rejects_, " times in a row"));
    }
    Log(LogLevel::kWarning, "dataplane", what, {{"action", "asked for it again"}});
    TD_RETURN_IF_ERROR(inner_.Reject(header));
  }
}

}  // namespace tapedeck::dataplane
