// What a node does again and again as long as it runs, e.g. to look whether a disk is still there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tapedeck::storage_node::node {

// Destroyed on another thread than its own, which waits for the round under way.
class Rounds {
 public:
  // Calls `round` on a thread called `name`, after `period` and again `period` after each has
  // returned. RESOURCE_EXHAUSTED (LIMIT_REACHED): there is no thread left.
  static absl::StatusOr<std::unique_ptr<Rounds>> Start(const std::string& name,
                                                       absl::Duration period,
                                                       std::function<void()> round);
  ~Rounds();

 private:
  Rounds(absl::Duration period, std::function<void()> round)
      : period_(period), round_(std::move(round)) {}
  void Run();

  const absl::Duration period_;
  const std::function<void()> round_;
  absl::Mutex mutex_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tapedeck::storage_node::node
