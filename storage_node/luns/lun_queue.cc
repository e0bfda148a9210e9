#include "storage_node/luns/lun_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::storage_node::luns {
namespace {

// What strangers may have waiting at a LUN: as many as a node has sessions.
constexpr size_t kMaxWaiting = 64;

absl::Status DeskIsFull(const std::string& lun) {
  return services::LimitReached(kMaxWaiting, "requests of a LUN",
                                absl::StrCat("LUN ", lun, ": ", kMaxWaiting,
                                             " requests wait for its disks already; see that "
                                             "they answer, and try again"));
}

}  // namespace

void Desk::Stop() {
  std::unique_ptr<services::TaskThread> thread;  // ends once the lock is gone
  absl::MutexLock lock(&mutex_);
  stop_ = true;
  thread.swap(thread_);
}

void Desk::Run(dataplane::Task task) {
  if (at_once_) return task();
  absl::MutexLock lock(&mutex_);
  if (stop_) return;  // the task dies once the lock is gone
  tasks_->Post(std::move(task));
  MakeThread().IgnoreError();  // else it is tried again with the next
}

absl::Status Desk::TryRun(dataplane::Task task) {
  if (at_once_) {
    task();
    return absl::OkStatus();
  }
  absl::MutexLock lock(&mutex_);
  if (waiting() >= kMaxWaiting) return DeskIsFull(lun_);
  if (stop_) return absl::OkStatus();
  TD_RETURN_IF_ERROR(MakeThread());
  tasks_->Post(std::move(task));
  return absl::OkStatus();
}

absl::Status Desk::MakeThread() {
  if (thread_ != nullptr) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(
      thread_, services::TaskThread::Create(absl::StrCat("lun-", lun_).substr(0, 15), tasks_));
  return absl::OkStatus();
}

void Desks::SetAtOnce(bool at_once) {
  absl::MutexLock lock(&mutex_);
  at_once_ = at_once;
}

void Desks::Stop() {
  std::map<std::string, std::shared_ptr<Desk>> desks;
  {
    absl::MutexLock lock(&mutex_);
    desks = desks_;
  }
  for (const auto& [lun, desk] : desks) desk->Stop();
}

std::shared_ptr<Desk> Desks::Of(const std::string& lun) {
  absl::MutexLock lock(&mutex_);
  std::shared_ptr<Desk>& desk = desks_[lun];
  if (desk == nullptr) desk = std::make_shared<Desk>(lun, at_once_);
  return desk;
}

std::map<std::string, size_t> Desks::Busy() const {
  absl::MutexLock lock(&mutex_);
  std::map<std::string, size_t> busy;
  for (const auto& [lun, desk] : desks_) {
    if (const size_t waiting = desk->waiting(); waiting > 0) busy[lun] = waiting;
  }
  return busy;
}

}  // namespace tapedeck::storage_node::luns
