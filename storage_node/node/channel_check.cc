#include "storage_node/node/channel_check.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/invalid.h"
#include "storage_node/admission/new_recording.h"
#include "storage_node/moving/move.h"

namespace tapedeck::storage_node::node {
namespace {

// Whoever holds blocks in memory for a trigger acknowledges what it has not stored.
absl::Status CheckTrigger(const services::Channel& channel, const luns::LunTerms& lun) {
  const bool ring = lun.config.full_policy == services::FullPolicy::kRing;
  if (!channel.triggered() || ring || channel.commit == dataplane::CommitLevel::kReceived) {
    return absl::OkStatus();
  }
  return services::model::Invalid(
      "pre_trigger",
      "needs commit level received, since untriggered samples are never stored, or a ring LUN");
}

// Two segments of a stream may be open at a time, and old ones must have room beside them.
absl::Status CheckSegments(const services::Channel& channel, const luns::LunTerms& lun) {
  const uint64_t segment =
      lun.footprint(channel.block_bytes).OfBlocks(admission::SegmentBlocks(channel, lun));
  if (lun.config.full_policy == services::FullPolicy::kStop || segment <= lun.limit / 4) {
    return absl::OkStatus();
  }
  return services::model::Invalid(
      "segment_bytes",
      absl::StrCat("a segment takes ", segment, " bytes, more than a quarter of ", lun.config.name,
                   "; use smaller segments or blocks, or a larger LUN"));
}

absl::Status CheckMove(const services::Channel& channel, const luns::LunTerms& lun) {
  if (channel.move_to.empty() || admission::SegmentBlocks(channel, lun) == 0) {
    return absl::OkStatus();
  }
  return services::model::Invalid(
      "move_to", "cannot be set on a channel that is recorded in segments, as in a ring LUN");
}

// All policies of a node wait for the recording that is moved.
constexpr uint64_t kMinMoveBytesPerS = 1'000'000;

}  // namespace

absl::Status CheckChannel(const services::Channel& channel, const luns::LunTerms& lun) {
  TD_RETURN_IF_ERROR(services::model::CheckChannel(channel));
  TD_RETURN_IF_ERROR(CheckSegments(channel, lun));
  TD_RETURN_IF_ERROR(CheckMove(channel, lun));
  return CheckTrigger(channel, lun);
}

absl::Status CheckLeastSegment(const services::Channel& channel) {
  const uint64_t least = admission::kMinSegmentBlocks * channel.block_bytes;
  if (channel.segment_bytes == 0 || channel.segment_bytes >= least) return absl::OkStatus();
  return services::model::Invalid(
      "segment_bytes",
      absl::StrCat("is ", channel.segment_bytes, "; a segment has at least ",
                   admission::kMinSegmentBlocks, " blocks, in this channel ", least, " bytes (",
                   least >> 10, "KiB); give that or more, or use smaller blocks"));
}

absl::Status CheckMoveRate(const services::Channel& channel) {
  if (channel.move_bytes_per_s == 0 || channel.move_bytes_per_s >= kMinMoveBytesPerS) {
    return absl::OkStatus();
  }
  return services::model::Invalid("move_rate_bytes_per_second",
                                  "must be at least 1 MB, or 0 for 100 MB: recordings move one "
                                  "after another, and a slow one delays the rest");
}

absl::Status CheckMoveTo(recordings::Recordings& recordings, const services::Channel& channel) {
  if (channel.move_to.empty()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(catalog::ResourceName name, catalog::ParseChannelName(channel.name));
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName to, catalog::ParseLunName(channel.move_to));
  if (to.lun == name.lun) {
    return services::model::Invalid("move_to", "is the LUN that the channel is in; name another");
  }
  TD_RETURN_IF_ERROR(recordings.luns().CheckExists(to.lun));
  if (const auto lun = recordings.luns().Find(to.lun); lun.ok()) {
    TD_RETURN_IF_ERROR(moving::CheckTakesMoved(**lun));
  }
  name.lun = to.lun;
  return moving::CheckNoWayBack(recordings, channel, name);
}

}  // namespace tapedeck::storage_node::node
