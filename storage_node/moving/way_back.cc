#include "storage_node/moving/way_back.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/invalid.h"

namespace tapedeck::storage_node::moving {
namespace {

// More tiers than anybody has.
constexpr int kMaxTiers = 16;

}  // namespace

absl::Status CheckNoWayBack(recordings::Recordings& recordings, const services::Channel& channel,
                            catalog::ResourceName to) {
  for (int tier = 0; tier < kMaxTiers; ++tier) {
    const auto next = recordings.FindChannel(to);
    if (!next.ok() || next->move_to.empty()) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName lun, catalog::ParseLunName(next->move_to));
    to.lun = lun.lun;
    if (to.channel_name() == channel.name) break;
  }
  return services::model::Invalid(
      "move_to", absl::StrCat("recordings would come back to ", channel.name,
                              ", as channels of that name move them on; end one of these"));
}

}  // namespace tapedeck::storage_node::moving
