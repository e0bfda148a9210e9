// Memory of one kind, allocated once. A transport sees only its window: this is the one neutral
// value in which memory kinds and transports meet.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/memory/share.h"

namespace tapedeck::dataplane {

struct MemoryWindow {
  std::span<std::byte> bytes;  // device addresses where host_accessible is false
  bool host_accessible = true;
  // Covers the bytes from its offset 0; owned by the Memory; -1 where there is none. A transport
  // registers a window that has one by it alone, and says so if it cannot: which way is used, and
  // which comes next, is for the ladder to decide (ladder/rung.h).
  int dma_buf_fd = -1;
  // How another process can open it, from its offset 0; owned by the Memory; null: none can.
  const MemoryShare* share = nullptr;
};

// Created by the rooms under memory/, each with
//   absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes, ...);
// Any thread may call window(). The memory is released with the object.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual MemoryWindow window() const = 0;
};

}  // namespace tapedeck::dataplane
