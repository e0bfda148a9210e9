// Pages for rings and arenas: large where the kernel has them, and there before the first sample.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "absl/status/status.h"

namespace tapedeck::dataplane {

// Told how many of all bytes are there; false ends it. On the thread that makes them resident.
using OnResident = std::function<bool(size_t done, size_t all)>;

// Asks for huge pages and faults every page in. With 4 KiB pages the kernel's copies into a large
// ring spend more time in page walks than in copying. In steps: cold memory comes at 0.1 to 1 GB/s,
// and while the kernel gets a step no other thread of the process can map memory.
// RESOURCE_EXHAUSTED if the kernel has no pages; CANCELLED if `on_resident` said so.
absl::Status MakeResident(std::span<std::byte> bytes, const OnResident& on_resident = nullptr);

}  // namespace tapedeck::dataplane
