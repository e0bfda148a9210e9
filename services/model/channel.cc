#include "services/model/channel.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "services/errors.h"

namespace tapedeck::services::model {
namespace {

absl::Status Wrong(absl::string_view field, absl::string_view why) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(field, ": ", why)), "ARGUMENT_INVALID",
                    {{"field", std::string(field)}});
}

absl::Status CheckBlockBytes(uint64_t bytes) {
  if (bytes >= kMinBlockBytes && bytes <= kMaxBlockBytes && bytes % kBlockAlignment == 0) {
    return absl::OkStatus();
  }
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "block_bytes ", bytes, ": must be a multiple of ", kBlockAlignment,
                        " from ", kMinBlockBytes, " to ", kMaxBlockBytes)),
                    "BLOCK_SIZE_INVALID", {{"block_bytes", absl::StrCat(bytes)}});
}

absl::Status CheckTrigger(const Channel& channel) {
  if (channel.pre_trigger_ns < 0 || channel.post_trigger_ns < 0) {
    return Wrong("pre_trigger", "the time before and after a trigger must not be negative");
  }
  if (channel.pre_trigger_ns > kMaxDurationNs || channel.post_trigger_ns > kMaxDurationNs) {
    return Wrong("pre_trigger", "the time before and after a trigger must be less than 73 years");
  }
  if (channel.triggered() && channel.sample_rate == 0) {
    return Wrong("pre_trigger", "needs a sample rate, which tells how much to hold");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckChannel(const Channel& channel) {
  if (const absl::Status block = CheckBlockBytes(channel.block_bytes); !block.ok()) return block;
  if (const auto type = dataplane::ParseDatatype(channel.datatype); !type.ok()) {
    return WithReason(type.status(), "DATATYPE_INVALID", {{"datatype", channel.datatype}});
  }
  if (!std::isfinite(channel.sample_rate) || channel.sample_rate < 0) {
    return Wrong("sample_rate", "must be a number of samples per second, or 0");
  }
  return CheckTrigger(channel);
}

}  // namespace tapedeck::services::model
