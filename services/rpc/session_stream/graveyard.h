// Destroys ended calls on a thread that is not one of gRPC's.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::services::session_stream {

// Owned by a StreamOpener. Any thread may call.
class Graveyard {
 public:
  Graveyard();
  // Waits until every call that was begun is buried.
  ~Graveyard();

  void CallBegun();
  void Bury(std::shared_ptr<void> call);

 private:
  void Work();

  absl::Mutex mutex_;
  int unburied_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<void>> calls_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tapedeck::services::session_stream
