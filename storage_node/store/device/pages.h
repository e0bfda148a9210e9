// Memory for O_DIRECT.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "storage_node/engine/engine.h"

namespace tapedeck::storage_node::store::device {

inline constexpr size_t kPageBytes = engine::kAlignment;

// A whole number of aligned pages, zeroed. Held by one thread at a time.
class Pages {
 public:
  explicit Pages(size_t bytes)
      : size_(engine::AlignUp(bytes)),
        memory_(static_cast<std::byte*>(::operator new(size_, kAlignment))) {
    std::memset(memory_.get(), 0, size_);
  }

  std::span<std::byte> bytes() { return {memory_.get(), size_}; }
  std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }

 private:
  static constexpr std::align_val_t kAlignment{kPageBytes};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };
  size_t size_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace tapedeck::storage_node::store::device
