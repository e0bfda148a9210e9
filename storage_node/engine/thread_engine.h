// Transfers by pread(2) and pwrite(2) on kDepth threads: each waits for one transfer at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "services/base/threads/task_thread.h"
#include "storage_node/engine/engine.h"

namespace tapedeck::storage_node::engine {

class ThreadEngine final : public Engine {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED).
  static absl::StatusOr<std::unique_ptr<Engine>> Create(const std::string& name);

  void Start(Transfer transfer) override;
  void AddFile(int /*fd*/) override {}
  void RemoveFile(int /*fd*/) override {}
  std::unique_ptr<dataplane::Memory> Adopt(std::unique_ptr<dataplane::Memory> memory) override {
    return memory;
  }
  std::string description() const override { return "threads, O_DIRECT"; }

 private:
  ThreadEngine() = default;

  const std::shared_ptr<services::TaskQueue> transfers_ = std::make_shared<services::TaskQueue>();
  std::vector<std::unique_ptr<services::TaskThread>> threads_;
};

}  // namespace tapedeck::storage_node::engine
