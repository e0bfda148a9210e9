#include "storage_node/recording/block_limits.h"

#include "absl/strings/str_cat.h"
#include "services/errors.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::recording {

absl::Status CheckBlock(absl::string_view recording, const dataplane::BlockHeader& header,
                        uint64_t block_bytes, uint64_t mark) {
  const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
  if (header.payload_bytes <= block_bytes && missing == (header.payload_bytes == 0) &&
      (header.flags & dataplane::kBlockDamaged) == 0 && header.sequence < mark + kMaxDisorder) {
    return absl::OkStatus();
  }
  return services::ProtocolViolation(
      {.message = "Block"},
      absl::StrCat("write ", recording, ": block ", header.sequence, " has ", header.payload_bytes,
                   " payload bytes and flags ", header.flags, "; the channel's blocks have ",
                   block_bytes, " and all below ", mark, " have come"));
}

absl::Status Full(absl::string_view recording, const Capacity& capacity) {
  return disk::LunFull("", capacity.limit(), capacity.used(),
                       absl::StrCat("write ", recording, ": the LUN is full (", capacity.used(),
                                    " of ", capacity.limit(),
                                    " bytes used); what was acknowledged is kept, delete "
                                    "recordings or make the LUN larger"));
}

absl::Status TooManyGaps(absl::string_view recording) {
  return services::LimitReached(
      format::kMaxGaps, "gaps of a recording",
      absl::StrCat(
          "write ", recording, ": blocks are missing in more than ", format::kMaxGaps,
          " separate places, which is all that its manifest may list; what came is kept, start "
          "another recording"));
}

}  // namespace tapedeck::storage_node::recording
