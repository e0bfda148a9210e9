// A thread that runs blocking disk calls in the order they were given, so that no session waits for
// a disk.
#pragma once

#include <deque>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::storage_node::store::posix {

// Any thread. The destructor runs what is still queued and joins; not on the thread itself.
class IoThread {
 public:
  explicit IoThread(const std::string& name);  // at most 15 characters
  ~IoThread();

  void Run(dataplane::Task task);

 private:
  void Loop();

  absl::Mutex mutex_;
  std::deque<dataplane::Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::storage_node::store::posix
