// Transfers by io_uring(7): one ring and one thread, which submits, reaps and resubmits transfers
// that fell short.
#pragma once

#include <liburing.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/disk/fd.h"
#include "storage_node/engine/engine.h"
#include "storage_node/engine/registered_memory.h"
#include "storage_node/engine/under_way.h"

namespace tapedeck::storage_node::engine {

class UringEngine final : public Engine {
 public:
  // UNAVAILABLE: the kernel has no io_uring of use to us or forbids it (a container's seccomp
  // profile, kernel.io_uring_disabled). RESOURCE_EXHAUSTED (LIMIT_REACHED): there is no thread.
  static absl::StatusOr<std::unique_ptr<UringEngine>> Create(const std::string& name);
  ~UringEngine() override;

  void Start(Transfer transfer) override;
  void AddFile(int fd) override;
  void RemoveFile(int fd) override;
  std::unique_ptr<dataplane::Memory> Adopt(std::unique_ptr<dataplane::Memory> memory) override;
  std::string description() const override { return "io_uring, O_DIRECT"; }

 private:
  UringEngine() = default;
  int SetUp();
  void Loop();
  // Takes what has come in. False: the engine ends and nothing is left.
  bool TakeIn();
  // The pointer is the completion's user data.
  void Submit(std::unique_ptr<UnderWay> work);
  void Reap();
  void WatchInbox();

  // Of the thread, except where a comment says otherwise.
  io_uring ring_ = {};
  disk::Fd wake_;  // eventfd; its read is always under way
  uint64_t wake_count_ = 0;
  std::shared_ptr<BufferTable> buffers_;  // any thread
  std::deque<std::unique_ptr<UnderWay>> waiting_;
  unsigned under_way_ = 0;

  absl::Mutex mutex_;
  std::vector<Transfer> inbox_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<int, int> files_ ABSL_GUARDED_BY(mutex_);  // fd → place in the ring's table
  std::vector<int> free_files_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tapedeck::storage_node::engine
