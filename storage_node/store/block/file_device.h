// A block device, or a file used as one: locked against everybody else, with its engine and
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/disk/fd.h"
#include "storage_node/disk/io_thread.h"
#include "storage_node/store/block/device.h"

namespace tapedeck::storage_node::store::block {

// Owned by the store. Any thread.
class FileDevice final : public Device {
 public:
  // `number`: of the member, for the names of its threads. Waits up to 250 ms for a process that
  // is just ending, then names it.
  static absl::StatusOr<std::unique_ptr<FileDevice>> Open(const std::string& path, uint32_t number);
  // Runs what is queued and ends the threads.
  ~FileDevice() override;

  engine::Engine& engine() override { return *engine_; }
  void Run(Thread thread, dataplane::Task work) override;
  absl::Status Read(std::span<std::byte> into, uint64_t offset) const override;
  absl::Status Write(std::span<const std::byte> bytes, uint64_t offset) const override;

 private:
  FileDevice(std::string path, disk::Fd fd, uint64_t bytes, uint32_t number);
  absl::Status Sync() override;

  const disk::Fd fd_;
  const std::unique_ptr<engine::Engine> engine_;
  disk::IoThread io_;
  disk::IoThread sync_;
};

}  // namespace tapedeck::storage_node::store::block
