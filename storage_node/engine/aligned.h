// What O_DIRECT asks of offsets, lengths and addresses, and how a slot meets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"

namespace tapedeck::storage_node::engine {

// Enough for every device that has 512 B or 4 KiB sectors.
inline constexpr size_t kAlignment = 4096;

constexpr uint64_t AlignUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The part of the slot that a transfer of `block` moves: the payload, filled up to kAlignment.
// `where`: the file or device, for the error text.
absl::StatusOr<std::span<std::byte>> AlignedPayload(dataplane::Block& block,
                                                    const std::string& where);

}  // namespace tapedeck::storage_node::engine
