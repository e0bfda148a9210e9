// Pages for rings and arenas: large where the kernel has them, and there before the first sample.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/status.h"

namespace tapedeck::dataplane {

// Asks for huge pages and faults every page in. With 4 KiB pages the kernel's copies into a large
// ring spend more time in page walks than in copying. RESOURCE_EXHAUSTED if the kernel has no
// pages.
absl::Status MakeResident(std::span<std::byte> bytes);

}  // namespace tapedeck::dataplane
