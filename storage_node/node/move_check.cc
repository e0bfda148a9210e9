#include "storage_node/node/move_check.h"

#include "dataplane/status_macros.h"
#include "services/model/words/invalid.h"
#include "storage_node/moving/move.h"
#include "storage_node/moving/way_back.h"

namespace tapedeck::storage_node::node {
namespace {

// All policies of a node wait for the recording that is moved.
constexpr uint64_t kMinMoveBytesPerS = 1'000'000;

}  // namespace

absl::Status CheckMoveRate(const services::Channel& channel) {
  if (channel.move_bytes_per_s == 0 || channel.move_bytes_per_s >= kMinMoveBytesPerS) {
    return absl::OkStatus();
  }
  return services::model::Invalid(
      "move_rate_bytes_per_second",
      "must be 1 MB at least, or 0 for 100 MB: recordings are moved one after the other, and all "
      "that are due wait for a slow one");
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
