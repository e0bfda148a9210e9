#include "storage_node/node/late_luns.h"

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "dataplane/executor/thread.h"
#include "dataplane/log.h"
#include "storage_node/node/reconcile.h"

namespace tapedeck::storage_node {
namespace {

constexpr absl::Duration kRetryPeriod = absl::Seconds(2);

void Try(NodeParts& parts, const std::string& lun_id) {
  // Without the lease it may be forgotten meanwhile.
  const auto lease = parts.leases->TakeExclusive("luns/" + lun_id);
  const auto offline = parts.luns.Offline();
  const auto lun = offline.find(lun_id);
  if (lease == nullptr || lun == offline.end()) return;
  const services::Lun& config = lun->second.config;
  const absl::Status status = OpenLunAndReconcile(parts, config);
  if (status.ok()) {
    dataplane::Log(dataplane::LogLevel::kInfo, "late_luns", "LUN online", {{"lun", config.name}});
  } else if (status != lun->second.cause) {
    dataplane::Log(dataplane::LogLevel::kError, "late_luns", "LUN still offline",
                   {{"lun", config.name}, {"error", std::string(status.message())}});
    parts.luns.SetOffline(lun_id, {.config = config, .cause = status});
  }
}

}  // namespace

LateLuns::LateLuns(NodeParts& parts) : parts_(parts) {
  parts_.watch_offline = [this] { Watch(); };
  if (!parts.luns.Offline().empty()) Watch();
}

LateLuns::~LateLuns() {
  parts_.watch_offline = [] {};
  std::thread thread;
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

void LateLuns::Watch() {
  absl::MutexLock lock(&mutex_);
  if (running_ || stop_) return;
  if (thread_.joinable()) thread_.join();  // it has nothing left to do
  auto thread = dataplane::StartThread("late-luns", [this] { Run(); });
  if (!thread.ok()) {
    dataplane::Log(dataplane::LogLevel::kError, "late_luns", "LUNs stay offline",
                   {{"error", std::string(thread.status().message())}});
    return;
  }
  thread_ = *std::move(thread);
  running_ = true;
}

void LateLuns::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stop_), kRetryPeriod)) return;
      running_ = !parts_.luns.Offline().empty();
      if (!running_) return;
    }
    const auto offline = parts_.luns.Offline();
    for (const auto& [lun_id, lun] : offline) {
      const auto desk = parts_.upkeep.Of(lun_id);
      if (desk->waiting() > 0) continue;
      desk->Run([&parts = parts_, id = lun_id] { Try(parts, id); });
    }
  }
}

}  // namespace tapedeck::storage_node
