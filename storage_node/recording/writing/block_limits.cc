#include "storage_node/recording/writing/block_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"
#include "services/model/seams/recorder.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::recording {
namespace {

// A sample has a byte at least.
bool TriggersFit(const dataplane::BlockHeader& header) {
  const auto& [first, last] = header.triggers;
  if ((header.flags & dataplane::kBlockTriggered) == 0) return first == 0 && last == 0;
  return first <= last && last < std::max(header.payload_bytes, 1u);
}

}  // namespace

absl::Status CheckBlock(absl::string_view recording, const dataplane::BlockHeader& header,
                        uint64_t block_bytes, uint64_t mark) {
  const bool missing = (header.flags & dataplane::kBlockMissing) != 0;
  if (header.payload_bytes <= block_bytes && missing == (header.payload_bytes == 0) &&
      (header.flags & dataplane::kBlockDamaged) == 0 && TriggersFit(header) &&
      header.sequence < mark + kMaxDisorder) {
    return absl::OkStatus();
  }
  return services::ProtocolViolation(
      {.message = "Block"},
      absl::StrCat("write ", recording, ": block ", header.sequence, " has ", header.payload_bytes,
                   " payload bytes, flags ", header.flags, " and triggers ", header.triggers.first,
                   " to ", header.triggers.last, "; the channel's blocks have ", block_bytes,
                   " bytes, and all below ", mark, " have arrived"));
}

void ForgetTriggers(dataplane::BlockHeader& header) {
  header.flags &= ~dataplane::kBlockTriggered;
  header.triggers = {};
}

void MarkTriggers(dataplane::BlockHeader& header, LiveRecording& live) {
  if ((header.flags & dataplane::kBlockTriggered) == 0) return;
  const auto [first, last] = header.triggers;
  ForgetTriggers(header);
  const std::string label = services::Trigger().label;
  live.Annotate({.sample_start = header.sample_index + first, .label = label});
  if (last != first) live.Annotate({.sample_start = header.sample_index + last, .label = label});
}

absl::Status Full(absl::string_view recording, const Capacity& capacity) {
  return disk::LunFull("", capacity.limit(), capacity.used(),
                       absl::StrCat("write ", recording, ": the LUN is full (", capacity.used(),
                                    " of ", capacity.limit(),
                                    " bytes used); acknowledged blocks are kept; delete recordings "
                                    "or give the LUN a larger capacity"));
}

absl::Status TooManyGaps(absl::string_view recording) {
  return services::LimitReached(
      format::kMaxGaps, "gaps of a recording",
      absl::StrCat("write ", recording, ": blocks are missing in more than ", format::kMaxGaps,
                   " separate places, the limit of a manifest; stored blocks are kept; start "
                   "another recording"));
}

}  // namespace tapedeck::storage_node::recording
