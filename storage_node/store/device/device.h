// The base of a device store: a block device, or a file used as one (file_device.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"
#include "storage_node/engine/engine.h"

namespace tapedeck::storage_node::store::device {

// Owned by the store. Any thread; Read, Write and Flush wait for the device. The destructor waits
// for what is under way.
class Device {
 public:
  // Index; and what has to wait for flushes: those themselves, slots, the growth of recordings.
  enum class Thread { kIo, kSync };

  virtual ~Device() = default;

  const std::string& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }  // whole pages
  int fd() const { return fd_; }             // what transfers of the engine name

  virtual engine::Engine& engine() = 0;  // for payload
  // Runs `work`, which may wait for the device, after what was given to the same thread before.
  virtual void Run(Thread thread, dataplane::Task work) = 0;

  // Whole pages in aligned memory.
  virtual absl::Status Read(std::span<std::byte> into, uint64_t offset) const = 0;
  virtual absl::Status Write(std::span<const std::byte> bytes, uint64_t offset) const = 0;

  // What was written before is durable. An error is for good: what then lies on the device nobody
  // knows, so no later flush may be believed until it is opened again.
  absl::Status Flush();

  // A flush on Thread::kSync, which calls `done` there. Those that wait together share one.
  using Flushed = absl::AnyInvocable<void(const absl::Status&)>;
  void FlushSoon(Flushed done);

  // What an errno of a write to it means: one that was unplugged says that it is full.
  virtual int MeaningOf(int error) const { return error; }

  // Whether its path still leads to it, and it takes what is flushed. INTERNAL (STORE_IO). Waits.
  absl::Status Look();

 protected:
  Device(std::string path, uint64_t bytes, int fd)
      : path_(std::move(path)), bytes_(bytes), fd_(fd) {}

 private:
  // One flush.
  virtual absl::Status Sync() = 0;
  virtual absl::Status LookAtPath() const { return absl::OkStatus(); }
  void FlushForAll();

  const std::string path_;
  const uint64_t bytes_;
  const int fd_;
  absl::Mutex mutex_;
  absl::Status broken_ ABSL_GUARDED_BY(mutex_);
  std::vector<Flushed> flushes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::store::device
