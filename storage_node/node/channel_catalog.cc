#include "storage_node/node/channel_catalog.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/admission/new_recording.h"
#include "storage_node/catalog/once.h"
#include "storage_node/format/limits.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/recordings/recordings.h"

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
absl::Status CheckTrigger(const services::Channel& channel, const luns::OpenLun& lun) {
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
absl::Status CheckSegments(const services::Channel& channel, const luns::OpenLun& lun) {
  const uint64_t segment =
      lun.footprint(channel.block_bytes).OfBlocks(admission::SegmentBlocks(channel, lun));
  if (lun.config.full_policy == services::FullPolicy::kStop ||
      segment <= lun.capacity->limit() / 4) {
    return absl::OkStatus();
  }
  return services::WithReason(
      absl::InvalidArgumentError(absl::StrCat("segment_bytes: a segment takes ", segment,
                                              " bytes, more than a quarter of ", lun.config.name,
                                              "; use smaller segments or blocks, or a larger LUN")),
      "ARGUMENT_INVALID", {{"field", "segment_bytes"}});
}

absl::Status Check(const services::Channel& channel, const luns::OpenLun& lun) {
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

absl::Status InUse(const std::string& channel, absl::string_view why) {
  return services::WithReason(absl::FailedPreconditionError(absl::StrCat(channel, " ", why)),
                              "CHANNEL_IN_USE", {{"channel", channel}});
}

}  // namespace

absl::StatusOr<services::Channel> ChannelService::CreateChannel(const services::Channel& channel,
                                                                const std::string& request_id) {
  return catalog::Once<services::Channel>(
      *recordings_.catalog(), request_id, "channel", channel.name,
      [&] { return GetChannel(channel.name); }, [&] { return Create(channel); });
}

absl::StatusOr<services::Channel> ChannelService::Create(services::Channel channel) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
  {
    TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(name.lun));
    TD_RETURN_IF_ERROR(Check(channel, *lun));
  }
  const auto lease = recordings_.leases().TakeExclusive(channel.name);
  TD_ASSIGN_OR_RETURN(const auto existing, recordings_.catalog()->GetChannel(name));
  if (existing.has_value()) {
    return services::WithReason(
        absl::AlreadyExistsError(absl::StrCat(channel.name, " exists; choose another name")),
        "CHANNEL_EXISTS", {{"channel", channel.name}});
  }
  if (lease == nullptr) return InUse(channel.name, "is being created or its LUN deleted");
  // Only under the lease is it sure that the LUN stays.
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(name.lun));
  if (!channel.op_chosen) channel.op = dataplane::TransferOp::kRead;
  channel.create_time_ns = recordings_.luns().clock().WallNs();
  TD_RETURN_IF_ERROR(luns::WriteChannelFile(*lun, channel));
  TD_RETURN_IF_ERROR(recordings_.catalog()->PutChannel(name, channel));
  return channel;
}

absl::StatusOr<services::Channel> ChannelService::GetChannel(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed, catalog::ParseChannelName(name));
  return recordings_.FindChannel(parsed);
}

absl::StatusOr<std::vector<services::Channel>> ChannelService::ListChannels(
    const std::string& parent) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed,
                      catalog::ParseLunName(parent, catalog::Wildcard::kAllowed));
  if (parsed.lun != "-") TD_RETURN_IF_ERROR(recordings_.luns().CheckExists(parsed.lun));
  return recordings_.catalog()->ListChannels(parsed.lun);
}

absl::Status ChannelService::DeleteChannel(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed, catalog::ParseChannelName(name));
  TD_RETURN_IF_ERROR(recordings_.FindChannel(parsed).status());
  const auto lease = recordings_.leases().TakeExclusive(name);
  if (lease == nullptr) return InUse(name, "is being recorded or played; end those sessions first");
  TD_RETURN_IF_ERROR(recordings_.FindChannel(parsed).status());
  TD_ASSIGN_OR_RETURN(const uint64_t recordings, recordings_.catalog()->CountRecordings(parsed));
  if (recordings > 0) {
    return InUse(name, absl::StrCat("holds ", recordings, " recordings; delete them first"));
  }
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(parsed.lun));
  TD_RETURN_IF_ERROR(luns::RemoveChannelFile(*lun, parsed.channel));
  dataplane::Log(dataplane::LogLevel::kInfo, "channel_catalog", "channel deleted",
                 {{"channel", name}, {"why", "asked for"}});
  return recordings_.catalog()->DeleteChannel(parsed);
}

}  // namespace tapedeck::storage_node::node
