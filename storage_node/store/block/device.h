// A block device, or a file used as one: locked against everybody else, with its engine and
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/disk/fd.h"
#include "storage_node/disk/io_thread.h"
#include "storage_node/engine/engine.h"

namespace tapedeck::storage_node::store::block {

// FAILED_PRECONDITION or NOT_FOUND (MEMBER_UNUSABLE).
absl::Status Unusable(absl::StatusCode code, const std::string& member, const std::string& why);

// Owned by the store. Any thread; Read, Write and Flush wait for the device.
class Device {
 public:
  // `number`: of the member, for the names of its threads. Waits up to 250 ms for a process that
  // is just ending, then names it.
  static absl::StatusOr<std::unique_ptr<Device>> Open(const std::string& path, uint32_t number);
  ~Device() { Stop(); }

  const std::string& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }  // whole pages
  int fd() const { return fd_.get(); }
  engine::Engine& engine() { return *engine_; }
  // Index; and what has to wait for flushes: those themselves, slots, the growth of recordings.
  disk::IoThread& io() { return io_; }
  disk::IoThread& sync() { return sync_; }

  // Whole pages in aligned memory.
  absl::Status Read(std::span<std::byte> into, uint64_t offset) const;
  absl::Status Write(std::span<const std::byte> bytes, uint64_t offset) const;

  // What was written before is durable. An error is for good: what then lies on the device nobody
  // knows, so no later flush may be believed until it is opened again.
  absl::Status Flush();

  // A flush on sync(), which calls `done` there. Those that wait together share one.
  using Flushed = absl::AnyInvocable<void(const absl::Status&)>;
  void FlushSoon(Flushed done);

  // Runs what is queued and ends the threads; the engine goes with the object.
  void Stop();

 private:
  Device(std::string path, disk::Fd fd, uint64_t bytes, uint32_t number);
  void FlushForAll();

  const std::string path_;
  const disk::Fd fd_;
  const uint64_t bytes_;
  const std::unique_ptr<engine::Engine> engine_;
  absl::Mutex mutex_;
  absl::Status broken_ ABSL_GUARDED_BY(mutex_);
  std::vector<Flushed> flushes_ ABSL_GUARDED_BY(mutex_);
  disk::IoThread io_;
  disk::IoThread sync_;
};

}  // namespace tapedeck::storage_node::store::block
