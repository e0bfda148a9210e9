#include "storage_node/opening/lun_watch.h"

#include <memory>
#include <string>
#include <utility>

#include "dataplane/executor/executor.h"
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

void LookAt(luns::Luns& luns, const std::string& lun_id,
            const std::shared_ptr<luns::OpenLun>& lun) {
  const absl::Status status = lun->store->Look();
  if (status.ok()) lun->space->Set(luns::SpaceOf(*lun->config.now()));
  // One that is being deleted is no longer in the table.
  if (status.ok() || !luns.TakeOffline(lun_id, lun, status)) return;
  dataplane::Log(dataplane::LogLevel::kError, "lost_luns", "LUN offline",
                 {{"lun", lun->config->name}, {"error", std::string(status.message())}});
}

// Unless what was asked for before is not done.
void Ask(luns::Luns& luns, const std::string& lun_id, dataplane::Task task) {
  const auto queue = luns.looks().Of(lun_id);
  if (queue->waiting() == 0) queue->Run(std::move(task));
}

}  // namespace

void TryLateLuns(recordings::Recordings& recordings) {
  // While it is being closed its members are locked by this node itself.
  const auto closing = recordings.luns().Closing();
  for (const auto& [lun_id, lun] : recordings.luns().Offline()) {
    if (closing.contains(lun_id) || recordings.luns().IsStandby(lun.config)) continue;
    const auto queue = recordings.luns().upkeep().Of(lun_id);
    if (queue->waiting() > 0) continue;
    queue->Run([&recordings, id = lun_id] { Try(recordings, id); });
  }
}

void LookForLostLuns(luns::Luns& luns) {
  for (const std::string& lun_id : luns.Closing()) {
    Ask(luns, lun_id, [&luns, lun_id] { luns.CloseUnused(lun_id); });
  }
  for (const auto& [lun_id, lun] : luns.All()) {
    if (lun->config->members.empty()) continue;  // in memory
    Ask(luns, lun_id, [&luns, id = lun_id, open = lun] { LookAt(luns, id, open); });
  }
}

}  // namespace tapedeck::storage_node::opening
