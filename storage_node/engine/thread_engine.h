// Transfers by pread(2) and pwrite(2) on kDepth threads: each waits for one transfer at a time.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/engine/engine.h"

namespace tapedeck::storage_node::engine {

class ThreadEngine final : public Engine {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED).
  static absl::StatusOr<std::unique_ptr<Engine>> Create(const std::string& name);
  ~ThreadEngine() override;

  void Start(Transfer transfer) override;
  void AddFile(int /*fd*/) override {}
  void RemoveFile(int /*fd*/) override {}
  std::unique_ptr<dataplane::Memory> Adopt(std::unique_ptr<dataplane::Memory> memory) override {
    return memory;
  }
  std::string description() const override { return "threads, O_DIRECT"; }

 private:
  ThreadEngine() = default;
  void Loop();

  absl::Mutex mutex_;
  std::deque<Transfer> transfers_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace tapedeck::storage_node::engine
