// Threads that do one piece of work together with the thread that has it, part by part. Whoever has
// it waits until all of it is done, so that what the work reads need not outlive the call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::gpu_worker::stages::verify {

// One thread, which is not one of its own.
class ThreadTeam {
 public:
  // Computes, and waits for nothing. `part` counts from 0; calls at the same time have different
  // thread numbers, each less than size().
  using Work = absl::FunctionRef<void(size_t part, size_t thread_number)>;

  // So many threads beside the caller's, or fewer, be it none, where the machine has no more.
  static std::unique_ptr<ThreadTeam> Create(size_t helpers);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  size_t size() const { return 1 + helpers_.size(); }

  // Returns once all parts are done; parts are begun in their order.
  void Run(size_t parts, Work work) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Claim {
    size_t part = 0;
    const Work* work = nullptr;
  };

  ThreadTeam() = default;

  // A helper's thread.
  void Help(size_t thread_number);
  void DoParts(size_t thread_number);
  // The next part; `again`: the caller's last one is done.
  std::optional<Claim> Next(bool again) ABSL_LOCKS_EXCLUDED(mutex_);
  void Call();

  // Helpers sleep until it changes: one call of the kernel wakes them all, where a mutex would wake
  // one after the other.
  std::atomic<uint32_t> calls_ = 0;
  std::atomic<bool> stop_ = false;

  absl::Mutex mutex_;
  const Work* work_ ABSL_GUARDED_BY(mutex_) = nullptr;
  size_t parts_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;

  std::vector<std::thread> helpers_;
};

}  // namespace tapedeck::gpu_worker::stages::verify
