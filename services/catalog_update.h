// What of a LUN or of a channel is to change: part of the seam in catalog.h. What has no value here
// stays as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "services/catalog.h"

namespace tapedeck::services {

struct LunUpdate {
  std::string name;  // luns/{lun}
  std::optional<uint64_t> capacity_bytes;
  std::optional<FullPolicy> full_policy;
  std::optional<int64_t> max_age_ns;
  std::optional<uint32_t> max_fill_percent;
};

// Of a channel: as configured, or no choice.
using OpChoice = std::optional<dataplane::TransferOp>;

struct ChannelUpdate {
  std::string name;  // luns/{lun}/channels/{channel}
  std::optional<uint64_t> block_bytes;
  std::optional<std::string> datatype;
  std::optional<double> sample_rate;
  std::optional<OpChoice> op;
  std::optional<dataplane::CommitLevel> commit;
  std::optional<int64_t> pre_trigger_ns;
  std::optional<int64_t> post_trigger_ns;
  std::optional<uint64_t> segment_bytes;
};

// The same with the changes.
inline Lun Updated(Lun lun, const LunUpdate& update) {
  lun.capacity_bytes = update.capacity_bytes.value_or(lun.capacity_bytes);
  lun.full_policy = update.full_policy.value_or(lun.full_policy);
  lun.max_age_ns = update.max_age_ns.value_or(lun.max_age_ns);
  lun.max_fill_percent = update.max_fill_percent.value_or(lun.max_fill_percent);
  return lun;
}

inline Channel Updated(Channel channel, const ChannelUpdate& update) {
  channel.block_bytes = update.block_bytes.value_or(channel.block_bytes);
  channel.datatype = update.datatype.value_or(channel.datatype);
  channel.sample_rate = update.sample_rate.value_or(channel.sample_rate);
  if (update.op.has_value()) {
    channel.op_chosen = update.op->has_value();
    channel.op = update.op->value_or(dataplane::TransferOp::kRead);
  }
  channel.commit = update.commit.value_or(channel.commit);
  channel.pre_trigger_ns = update.pre_trigger_ns.value_or(channel.pre_trigger_ns);
  channel.post_trigger_ns = update.post_trigger_ns.value_or(channel.post_trigger_ns);
  channel.segment_bytes = update.segment_bytes.value_or(channel.segment_bytes);
  return channel;
}

}  // namespace tapedeck::services
