#include "storage_node/node/channel_check.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/admission/new_recording.h"
#include "storage_node/format/limits.h"

namespace tapedeck::storage_node::node {
namespace {

constexpr uint64_t kMinBlockBytes = 64 << 10;
constexpr uint64_t kMaxBlockBytes = 8 << 20;
// Direct I/O aligns to this, and so do all offsets of blocks.
constexpr uint64_t kBlockAlignment = 4096;

absl::Status CheckBlockBytes(uint64_t bytes) {
  if (bytes >= kMinBlockBytes && bytes <= kMaxBlockBytes && bytes % kBlockAlignment == 0) {
    return absl::OkStatus();
  }
  return services::WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "block_bytes ", bytes, ": must be a multiple of 4096 from 65536 to 8388608")),
      "BLOCK_SIZE_INVALID", {{"block_bytes", absl::StrCat(bytes)}});
}

// Whoever holds blocks in memory for a trigger acknowledges what it has not stored.
absl::Status CheckTrigger(const services::Channel& channel, const luns::LunTerms& lun) {
  const bool ring = lun.config.full_policy == services::FullPolicy::kRing;
  absl::string_view why;
  if (channel.pre_trigger_ns < 0 || channel.post_trigger_ns < 0) {
    why = "the time before and after a trigger must not be negative";
  } else if (channel.pre_trigger_ns > format::kMaxDurationNs ||
             channel.post_trigger_ns > format::kMaxDurationNs) {
    why = "the time before and after a trigger must be less than 73 years";
  } else if (channel.triggered() && channel.sample_rate == 0) {
    why = "needs a sample rate, which tells how much to hold";
  } else if (channel.triggered() && !ring && channel.commit != dataplane::CommitLevel::kReceived) {
    why = "needs commit level received, as what is not triggered is never stored, or a ring LUN";
  } else {
    return absl::OkStatus();
  }
  return services::WithReason(absl::InvalidArgumentError(absl::StrCat("pre_trigger: ", why)),
                              "ARGUMENT_INVALID", {{"field", "pre_trigger"}});
}

// Two segments of a stream may be open at a time, and old ones must have room beside them.
absl::Status CheckSegments(const services::Channel& channel, const luns::LunTerms& lun) {
  const uint64_t segment =
      lun.footprint(channel.block_bytes).OfBlocks(admission::SegmentBlocks(channel, lun));
  if (lun.config.full_policy == services::FullPolicy::kStop || segment <= lun.limit / 4) {
    return absl::OkStatus();
  }
  return services::WithReason(
      absl::InvalidArgumentError(absl::StrCat("segment_bytes: a segment takes ", segment,
                                              " bytes, more than a quarter of ", lun.config.name,
                                              "; use smaller segments or blocks, or a larger LUN")),
      "ARGUMENT_INVALID", {{"field", "segment_bytes"}});
}

}  // namespace

absl::Status CheckChannel(const services::Channel& channel, const luns::LunTerms& lun) {
  TD_RETURN_IF_ERROR(CheckBlockBytes(channel.block_bytes));
  if (const auto type = dataplane::ParseDatatype(channel.datatype); !type.ok()) {
    return services::WithReason(type.status(), "DATATYPE_INVALID",
                                {{"datatype", channel.datatype}});
  }
  if (!std::isfinite(channel.sample_rate) || channel.sample_rate < 0) {
    return services::WithReason(
        absl::InvalidArgumentError("sample_rate: must be a number of samples per second, or 0"),
        "ARGUMENT_INVALID", {{"field", "sample_rate"}});
  }
  TD_RETURN_IF_ERROR(CheckSegments(channel, lun));
  return CheckTrigger(channel, lun);
}

}  // namespace tapedeck::storage_node::node
