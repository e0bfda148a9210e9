#include "storage_node/recordings/closer.h"

#include <vector>

#include "dataplane/deadline.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {
namespace {

// Recordings that wait at a time: sessions are limited, so more are left only by disks that fail,
// and those are closed when they are played, or at the next start.
constexpr size_t kMostLeft = 4096;

constexpr absl::Duration kFirstPause = absl::Seconds(1);
constexpr absl::Duration kLongestPause = absl::Minutes(1);

std::string LunOf(const std::string& recording) {
  const auto name = catalog::ParseRecordingName(recording);
  return name.ok() ? name->lun : "";
}

}  // namespace

void Closer::Stop() {
  absl::MutexLock lock(&mutex_);
  recordings_ = nullptr;
}

void Closer::Ended(const std::string& recording) {
  absl::MutexLock lock(&mutex_);
  if (left_.size() >= kMostLeft && !left_.contains(recording)) return;
  left_[recording] = {.next = dataplane::SteadyTime() + kFirstPause};
}

void Closer::Failed(const std::string& recording, const absl::Status& status) {
  absl::MutexLock lock(&mutex_);
  if (left_.size() >= kMostLeft && !left_.contains(recording)) return;
  Left& left = left_[recording];
  left.asked = false;
  left.next = dataplane::SteadyTime() +
              dataplane::BackoffAfter(++left.failures, kFirstPause, kLongestPause);
  const auto reason = services::ReasonOf(status);
  const bool usual =
      reason.has_value() && (reason->reason == "RECORDING_BUSY" || reason->reason == "LUN_OFFLINE");
  if (left.failures > 1 || usual) return;
  dataplane::Log(dataplane::LogLevel::kError, "recordings",
                 "cannot close a recording that its session left open; the node will try again",
                 {{"recording", recording}, {"error", std::string(status.message())}});
}

void Closer::Try(const std::string& recording) {
  Recordings* recordings = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    recordings = recordings_;
  }
  if (recordings == nullptr) return;
  const absl::Status status = recordings->CloseLeft(recording);
  if (!status.ok()) return Failed(recording, status);
  absl::MutexLock lock(&mutex_);
  left_.erase(recording);
}

void Closer::Ask(const std::string& lun, const std::vector<std::string>& recordings) {
  std::shared_ptr<luns::LunQueue> queue;
  {
    absl::MutexLock lock(&mutex_);
    if (recordings_ == nullptr) return;
    queue = recordings_->luns().queues().Of(lun);
  }
  queue->Run([self = shared_from_this(), recordings] {
    for (const std::string& recording : recordings) self->Try(recording);
  });
}

void Closer::Look() {
  std::map<std::string, std::vector<std::string>> due;  // by LUN
  {
    absl::MutexLock lock(&mutex_);
    const absl::Time now = dataplane::SteadyTime();
    for (auto& [recording, left] : left_) {
      if (left.asked || left.next > now) continue;
      left.asked = true;
      due[LunOf(recording)].push_back(recording);
    }
  }
  for (const auto& [lun, recordings] : due) Ask(lun, recordings);
}

bool Closer::AwaitTried(const std::string& recording, absl::Duration limit) {
  bool ask = false;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = left_.find(recording);
    if (it == left_.end()) return true;
    ask = !it->second.asked && it->second.failures == 0;
    if (ask) it->second.asked = true;
  }
  if (ask) Ask(LunOf(recording), {recording});
  absl::MutexLock lock(&mutex_);
  const auto tried = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto it = left_.find(recording);
    return it == left_.end() || it->second.failures > 0;
  };
  return dataplane::AwaitFor(mutex_, absl::Condition(&tried), limit);
}

}  // namespace tapedeck::storage_node::recordings
