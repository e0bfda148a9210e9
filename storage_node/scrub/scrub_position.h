// Where a scrub goes on after it was stopped, kept as a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace tapedeck::storage_node::scrub {

struct ScrubPosition {
  std::string recording;  // empty: at the beginning. Those before it, by name, have been read
  uint64_t block = 0;     // of it, the next to read
};

// Any thread; blocking. The beginning if there is no file, or a damaged one: reading twice does no
// harm.
ScrubPosition ReadScrubPosition(const std::string& state_dir, const std::string& parent);
absl::Status WriteScrubPosition(const std::string& state_dir, const std::string& parent,
                                const ScrubPosition& position);

// The beginning, without a file.
absl::Status ForgetScrubPosition(const std::string& state_dir, const std::string& parent);

// Removes the positions of parents that are not `wanted`, and the oldest of more than
// kMaxScrubPositions. What is no such file stays.
inline constexpr size_t kMaxScrubPositions = 64;
void PruneScrubPositions(const std::string& state_dir,
                         const std::function<bool(const std::string& parent)>& wanted);

}  // namespace tapedeck::storage_node::scrub
