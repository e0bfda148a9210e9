#include "storage_node/luns/lun_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::storage_node::luns {
namespace {

// What strangers may have waiting at a LUN: as many as a node has sessions.
constexpr size_t kMaxWaiting = 64;

absl::Status QueueIsFull(const std::string& lun) {
  return services::LimitReached(
      kMaxWaiting, "requests of a LUN",
      absl::StrCat(
          "LUN ", lun, ": ", kMaxWaiting,
          " requests already wait for its disks; check that the disks answer, and try again"));
}

}  // namespace

void LunQueue::Stop() {
  std::unique_ptr<services::TaskThread> thread;  // ends once the lock is gone
  absl::MutexLock lock(&mutex_);
  stop_ = true;
  thread.swap(thread_);
}

void LunQueue::Run(dataplane::Task task) {
  if (at_once_) return task();
  absl::MutexLock lock(&mutex_);
  if (stop_) return;  // the task dies once the lock is gone
  tasks_->Post(std::move(task));
  MakeThread().IgnoreError();  // else it is tried again with the next
}

absl::Status LunQueue::TryRun(dataplane::Task task) {
  if (at_once_) {
    task();
    return absl::OkStatus();
  }
  absl::MutexLock lock(&mutex_);
  if (waiting() >= kMaxWaiting) return QueueIsFull(lun_);
  if (stop_) return absl::OkStatus();
  TD_RETURN_IF_ERROR(MakeThread());
  tasks_->Post(std::move(task));
  return absl::OkStatus();
}

absl::Status LunQueue::MakeThread() {
  if (thread_ != nullptr) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(
      thread_, services::TaskThread::Create(absl::StrCat("lun-", lun_).substr(0, 15), tasks_));
  return absl::OkStatus();
}

void LunQueues::SetAtOnce(bool at_once) {
  absl::MutexLock lock(&mutex_);
  at_once_ = at_once;
}

void LunQueues::Stop() {
  std::map<std::string, std::shared_ptr<LunQueue>> queues;
  {
    absl::MutexLock lock(&mutex_);
    queues = queues_;
  }
  for (const auto& [lun, queue] : queues) queue->Stop();
}

std::shared_ptr<LunQueue> LunQueues::Of(const std::string& lun) {
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<LunQueue>& queue = queues_[lun];
  if (queue == nullptr) queue = std::make_shared<LunQueue>(lun, at_once_);
  return queue;
}

std::map<std::string, size_t> LunQueues::Busy() const {
  absl::MutexLock lock(&mutex_);
  std::map<std::string, size_t> busy;
  for (const auto& [lun, queue] : queues_) {
    if (const size_t waiting = queue->waiting(); waiting > 0) busy[lun] = waiting;
  }
  return busy;
}

}  // namespace tapedeck::storage_node::luns
