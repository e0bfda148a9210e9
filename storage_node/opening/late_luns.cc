#include "storage_node/opening/late_luns.h"

#include <string>

#include "dataplane/log.h"
#include "storage_node/opening/reconcile.h"

namespace tapedeck::storage_node::opening {
namespace {

void Try(recordings::Recordings& recordings, const std::string& lun_id) {
  const auto turn = recordings.luns().turns().ForTrying();
  if (turn == nullptr) return;
  // Without the lease it may be forgotten or attached meanwhile.
  const OpeningLease lease = TakeOpening(recordings, "luns/" + lun_id);
  const auto offline = recordings.luns().Offline();
  const auto lun = offline.find(lun_id);
  if (!lease || lun == offline.end()) return;
  const services::Lun& config = lun->second.config;
  const absl::Status status = OpenLunAndReconcile(recordings, config);
  if (status.ok()) {
    dataplane::Log(dataplane::LogLevel::kInfo, "late_luns", "LUN online", {{"lun", config.name}});
  } else if (status != lun->second.cause) {
    dataplane::Log(dataplane::LogLevel::kError, "late_luns", "LUN still offline",
                   {{"lun", config.name}, {"error", std::string(status.message())}});
    recordings.luns().SetOffline(lun_id, {.config = config, .cause = status});
  }
}

}  // namespace

void TryLateLuns(recordings::Recordings& recordings) {
  // While it is being closed its members are locked by this node itself.
  const auto closing = recordings.luns().Closing();
  for (const auto& [lun_id, lun] : recordings.luns().Offline()) {
    if (closing.contains(lun_id) || recordings.luns().IsStandby(lun.config)) continue;
    const auto desk = recordings.luns().upkeep().Of(lun_id);
    if (desk->waiting() > 0) continue;
    desk->Run([&recordings, id = lun_id] { Try(recordings, id); });
  }
}

}  // namespace tapedeck::storage_node::opening
