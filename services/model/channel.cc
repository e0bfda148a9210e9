#include "services/model/channel.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "services/base/errors.h"
#include "services/model/words/check_fields.h"
#include "services/model/words/description.h"
#include "services/model/words/invalid.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::services::model {
namespace {

absl::Status CheckBlockBytes(uint64_t bytes) {
  if (bytes >= kMinBlockBytes && bytes <= kMaxBlockBytes && bytes % kBlockAlignment == 0) {
    return absl::OkStatus();
  }
  return BlockSizeInvalid(
      bytes, absl::StrCat("block_bytes ", bytes, ": must be a multiple of ", kBlockAlignment,
                          " from ", kMinBlockBytes, " to ", kMaxBlockBytes));
}

absl::Status CheckTrigger(const Channel& channel) {
  if (channel.triggered() && channel.sample_rate == 0) {
    return Invalid("pre_trigger", "needs a sample rate, which tells how much to hold");
  }
  return absl::OkStatus();
}

absl::Status CheckMove(const Channel& channel) {
  const int64_t after_ns = channel.move_after_ns;
  const bool none = after_ns == 0 && channel.move_to.empty();
  if (!none && after_ns < kMinMoveAfterNs) {
    return Invalid("move_after", "must be 1 s or more: when recordings go to move_to");
  }
  if (channel.move_to.empty() || CheckLunName(channel.move_to).ok()) return absl::OkStatus();
  return Invalid("move_to", absl::StrCat("\"", channel.move_to,
                                         "\" is not a LUN of this storage node, luns/{lun}; to "
                                         "another node tapectl recordings move takes a recording"));
}

}  // namespace

absl::Status CheckChannel(const Channel& channel) {
  if (const absl::Status block = CheckBlockBytes(channel.block_bytes); !block.ok()) return block;
  if (const auto type = dataplane::ParseDatatype(channel.datatype); !type.ok()) {
    return DatatypeInvalid(channel.datatype, type.status().message());
  }
  if (!std::isfinite(channel.sample_rate) || channel.sample_rate < 0) {
    return Invalid("sample_rate", "must be a number of samples per second, or 0");
  }
  if (const absl::Status bounds = CheckFields(channel); !bounds.ok()) return bounds;
  if (const absl::Status trigger = CheckTrigger(channel); !trigger.ok()) return trigger;
  if (const absl::Status move = CheckMove(channel); !move.ok()) return move;
  return CheckDescription(channel.description, channel.labels, kConfiguredLabels);
}

}  // namespace tapedeck::services::model
