// How much memory may still be taken. Linux promises more than it has and kills a process when the
// promise comes due, so what is large is asked for here before it is mapped.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

// What is left for the process itself when a ring or an arena has taken the rest. With much less,
// the kernel's killer comes instead of a refusal.
inline constexpr uint64_t kKeptFreeBytes = 64 << 20;

// The least of what the machine has and what the limits of this process's control groups (both
// versions) leave. Their file caches count as available. `root` is where /proc and /sys are.
uint64_t AvailableBytes(const std::string& root = "");

// RESOURCE_EXHAUSTED (LIMIT_REACHED) if `what` of so many bytes cannot be had; `remedy` says what
// to do, `option` what to change.
absl::Status CheckAvailable(absl::string_view what, uint64_t bytes, absl::string_view option,
                            absl::string_view remedy);

}  // namespace tapedeck::dataplane
