#include "storage_node/opening/lost_luns.h"

#include <memory>
#include <string>
#include <utility>

#include "dataplane/executor/executor.h"
#include "dataplane/log.h"

namespace tapedeck::storage_node::opening {
namespace {

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
  const auto desk = luns.looks().Of(lun_id);
  if (desk->waiting() == 0) desk->Run(std::move(task));
}

}  // namespace

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
