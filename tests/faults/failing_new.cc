#include "tests/faults/failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace tapedeck::faults {
namespace {

// operator new belongs to the whole program, so what it counts does, too.
constinit std::atomic<uint64_t> counted = 0;
constinit std::atomic<uint64_t> first_failing = 0;
constinit std::atomic<bool> all_after = false;

bool Fails() {
  const uint64_t n = ++counted;
  const uint64_t first = first_failing;
  return first != 0 && (n == first || (all_after && n > first));
}

void* Try(size_t bytes, size_t alignment) {
  if (Fails()) return nullptr;
  if (alignment == 0) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

// nullptr where there is no handler.
void* TryWithHandler(size_t bytes, size_t alignment) {
  while (true) {
    if (void* memory = Try(bytes, alignment)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) return nullptr;
    handler();
  }
}

void* AllocateOrThrow(size_t bytes, size_t alignment) {
  if (void* memory = TryWithHandler(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

void* AllocateOrNull(size_t bytes, size_t alignment) noexcept {
  try {
    return TryWithHandler(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

void FailAllocation(uint64_t n, bool for_ever) {
  first_failing = 0;
  counted = 0;
  all_after = for_ever;
  first_failing = n;
}

uint64_t AllocationsCounted() { return counted; }

}  // namespace tapedeck::faults

using tapedeck::faults::AllocateOrNull;
using tapedeck::faults::AllocateOrThrow;
using Alignment = std::align_val_t;

void* operator new(size_t bytes) { return AllocateOrThrow(bytes, 0); }
void* operator new[](size_t bytes) { return AllocateOrThrow(bytes, 0); }
void* operator new(size_t bytes, Alignment a) {
  return AllocateOrThrow(bytes, static_cast<size_t>(a));
}
void* operator new[](size_t bytes, Alignment a) {
  return AllocateOrThrow(bytes, static_cast<size_t>(a));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return AllocateOrNull(bytes, 0);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return AllocateOrNull(bytes, 0);
}
void* operator new(size_t bytes, Alignment a, const std::nothrow_t&) noexcept {
  return AllocateOrNull(bytes, static_cast<size_t>(a));
}
void* operator new[](size_t bytes, Alignment a, const std::nothrow_t&) noexcept {
  return AllocateOrNull(bytes, static_cast<size_t>(a));
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, Alignment) noexcept { std::free(memory); }
void operator delete[](void* memory, Alignment) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, Alignment) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, Alignment) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, Alignment, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, Alignment, const std::nothrow_t&) noexcept {
  std::free(memory);
}
