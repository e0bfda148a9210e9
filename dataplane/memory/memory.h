// Memory of one kind, allocated once. A transport sees only its window: this is the one neutral
// value in which memory kinds and transports meet.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"

namespace tapedeck::dataplane {

struct MemoryWindow {
  std::span<std::byte> bytes;  // device addresses where host_accessible is false
  bool host_accessible = true;
  int dma_buf_fd = -1;  // owned by the Memory; -1 where there is none
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
