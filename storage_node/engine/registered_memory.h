// Memory that io_uring knows: the kernel pins its pages once, not for every transfer.
#pragma once

#include <liburing.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::storage_node::engine {

// The fixed buffers of one io_uring. Any thread. Held by shared_ptr: by the engine, which closes
// it, and by the memory that is in it, which may outlive the engine.
class BufferTable {
 public:
  // 0 if the kernel has such tables, or the errno.
  static int Create(io_uring* ring, std::shared_ptr<BufferTable>* table);

  // 0, or the errno: ENOMEM where RLIMIT_MEMLOCK is too low, ENOSPC if the table is full.
  int Add(std::span<std::byte> bytes);
  void Remove(std::span<std::byte> bytes);

  // The buffer that holds all of `bytes`.
  std::optional<int> Find(std::span<const std::byte> bytes) const;

  // The ring is about to go.
  void Close();

 private:
  struct Buffer {
    size_t bytes = 0;
    int index = 0;
  };
  explicit BufferTable(io_uring* ring);
  int Update(int index, std::span<std::byte> bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int AddPiece(std::span<std::byte> piece) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  io_uring* ring_ ABSL_GUARDED_BY(mutex_);  // null: closed
  std::map<const std::byte*, Buffer> buffers_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> free_ ABSL_GUARDED_BY(mutex_);
};

// Leaves the table with the object.
class RegisteredMemory final : public dataplane::Memory {
 public:
  RegisteredMemory(std::unique_ptr<dataplane::Memory> memory, std::shared_ptr<BufferTable> table)
      : memory_(std::move(memory)), table_(std::move(table)) {}
  ~RegisteredMemory() override { table_->Remove(memory_->window().bytes); }
  dataplane::MemoryWindow window() const override { return memory_->window(); }

 private:
  const std::unique_ptr<dataplane::Memory> memory_;
  const std::shared_ptr<BufferTable> table_;
};

}  // namespace tapedeck::storage_node::engine
