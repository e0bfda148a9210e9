#include "storage_node/disk/io_thread.h"

#include <utility>

#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::disk {

absl::StatusOr<std::unique_ptr<IoThread>> IoThread::Create(const std::string& name) {
  std::unique_ptr<IoThread> io(new IoThread);
  TD_ASSIGN_OR_RETURN(io->thread_, dataplane::StartThread(name, [raw = io.get()] { raw->Loop(); }));
  return io;
}

void IoThread::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void IoThread::Run(dataplane::Task task) {
  absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
}

void IoThread::Loop() {
  const auto ready = [this]()
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !tasks_.empty(); };
  while (true) {
    dataplane::Task task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace tapedeck::storage_node::disk
