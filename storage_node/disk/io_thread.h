// A thread that runs blocking disk calls in the order they were given, so that no session waits for
// a disk.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::storage_node::disk {

// Any thread. The destructor stops it.
class IoThread {
 public:
  // `name`: at most 15 characters. RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<IoThread>> Create(const std::string& name);
  ~IoThread() { Stop(); }

  void Run(dataplane::Task task);

  // Runs what is still queued and joins; not on the thread itself. Nothing runs afterwards.
  void Stop();

 private:
  IoThread() = default;
  void Loop();

  absl::Mutex mutex_;
  std::deque<dataplane::Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::storage_node::disk
