// A block device, or a file used as one: locked against everybody else, with its engine and
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/base/threads/task_thread.h"
#include "storage_node/disk/fd.h"
#include "storage_node/store/device/device.h"

namespace tapedeck::storage_node::store::device {

// Of a path: a device, or else a file that may be used as one. NOT_FOUND or FAILED_PRECONDITION
// (MEMBER_UNUSABLE): neither.
absl::StatusOr<bool> IsBlockDevice(const std::string& path);

// Owned by the store. Any thread.
class FileDevice final : public Device {
 public:
  // `number`: of the member, for the names of its threads. Waits up to 250 ms for a process that
  // is just ending, then names it. RESOURCE_EXHAUSTED (LIMIT_REACHED): there are no threads.
  static absl::StatusOr<std::unique_ptr<FileDevice>> Open(const std::string& path, uint32_t number);
  // Runs what is queued and ends the threads.
  ~FileDevice() override;

  engine::Engine& engine() override { return *threads_.engine; }
  void Run(Thread thread, dataplane::Task work) override;
  absl::Status Read(std::span<std::byte> into, uint64_t offset) const override;
  absl::Status Write(std::span<const std::byte> bytes, uint64_t offset) const override;
  int MeaningOf(int error) const override;

 private:
  // The last of these ends first.
  struct Threads {
    std::unique_ptr<engine::Engine> engine;
    std::unique_ptr<services::TaskThread> io;
    std::unique_ptr<services::TaskThread> sync;
  };

  FileDevice(std::string path, disk::Fd fd, uint64_t bytes, Threads threads);
  absl::Status Sync() override;
  absl::Status LookAtPath() const override;

  const disk::Fd fd_;
  const Threads threads_;
};

}  // namespace tapedeck::storage_node::store::device
