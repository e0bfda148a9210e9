#include "storage_node/opening/lost_luns.h"

#include <memory>
#include <string>
#include <utility>

#include "dataplane/executor/executor.h"
#include "dataplane/log.h"

namespace tapedeck::storage_node::opening {
namespace {

void LookAt(node::NodeParts& parts, const std::string& lun_id,
            const std::shared_ptr<luns::OpenLun>& lun) {
  const absl::Status status = lun->store->Look();
  // One that is being deleted is no longer in the table.
  if (status.ok() || !parts.luns.TakeOffline(lun_id, lun, status)) return;
  dataplane::Log(dataplane::LogLevel::kError, "lost_luns", "LUN offline",
                 {{"lun", lun->config.name}, {"error", std::string(status.message())}});
}

// Unless what was asked for before is not done.
void Ask(node::NodeParts& parts, const std::string& lun_id, dataplane::Task task) {
  const auto desk = parts.looks.Of(lun_id);
  if (desk->waiting() == 0) desk->Run(std::move(task));
}

}  // namespace

void LookForLostLuns(node::NodeParts& parts) {
  for (const std::string& lun_id : parts.luns.Closing()) {
    Ask(parts, lun_id, [&parts, lun_id] { parts.luns.CloseUnused(lun_id); });
  }
  for (const auto& [lun_id, lun] : parts.luns.All()) {
    if (lun->config.members.empty()) continue;  // in memory
    Ask(parts, lun_id, [&parts, id = lun_id, open = lun] { LookAt(parts, id, open); });
  }
}

}  // namespace tapedeck::storage_node::opening
