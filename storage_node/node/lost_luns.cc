#include "storage_node/node/lost_luns.h"

#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "dataplane/log.h"

namespace tapedeck::storage_node {
namespace {

// With it a member is missed within a second.
constexpr absl::Duration kLookPeriod = absl::Milliseconds(500);

void LookAt(NodeParts& parts, const std::string& lun_id, const std::shared_ptr<OpenLun>& lun) {
  const absl::Status status = lun->store->Look();
  // One that is being deleted is no longer in the table.
  if (status.ok() || !parts.luns.TakeOffline(lun_id, lun, status)) return;
  dataplane::Log(dataplane::LogLevel::kError, "lost_luns", "LUN offline",
                 {{"lun", lun->config.name}, {"error", std::string(status.message())}});
}

}  // namespace

LostLuns::LostLuns(NodeParts& parts) : parts_(parts), thread_([this] { Run(); }) {}

LostLuns::~LostLuns() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void LostLuns::Ask(const std::string& lun_id, dataplane::Task task) {
  const auto desk = parts_.looks.Of(lun_id);
  if (desk->waiting() == 0) desk->Run(std::move(task));
}

void LostLuns::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stop_), kLookPeriod)) return;
    }
    for (const std::string& lun_id : parts_.luns.Closing()) {
      Ask(lun_id, [&parts = parts_, lun_id] { parts.luns.CloseUnused(lun_id); });
    }
    for (const auto& [lun_id, lun] : parts_.luns.All()) {
      if (!lun->kind.has_directories) continue;
      Ask(lun_id, [&parts = parts_, id = lun_id, open = lun] { LookAt(parts, id, open); });
    }
  }
}

}  // namespace tapedeck::storage_node
