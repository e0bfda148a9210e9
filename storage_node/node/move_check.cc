#include "storage_node/node/move_check.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/invalid.h"
#include "storage_node/moving/move.h"

namespace tapedeck::storage_node::node {
namespace {

// More tiers than anybody has.
constexpr int kMaxTiers = 16;

// Follows the channels of that name from one LUN to the next.
absl::Status CheckNoWayBack(recordings::Recordings& recordings, const services::Channel& channel,
                            catalog::ResourceName name) {
  for (int tier = 0; tier < kMaxTiers; ++tier) {
    const auto next = recordings.FindChannel(name);
    if (!next.ok() || next->move_to.empty()) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName lun, catalog::ParseLunName(next->move_to));
    name.lun = lun.lun;
    if (name.channel_name() == channel.name) break;
  }
  return services::model::Invalid(
      "move_to", absl::StrCat("recordings would come back to ", channel.name,
                              ", as channels of that name move them on; end one of these"));
}

}  // namespace

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
  return CheckNoWayBack(recordings, channel, name);
}

}  // namespace tapedeck::storage_node::node
