#include "storage_node/disk/io_thread.h"

#include <pthread.h>

#include <utility>

namespace tapedeck::storage_node::disk {

IoThread::IoThread(const std::string& name) : thread_([this] { Loop(); }) {
  pthread_setname_np(thread_.native_handle(), name.c_str());
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
