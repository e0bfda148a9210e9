// Is this payload the block that was asked for? The one rule by which reader, verification and
// recovery judge.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "storage_node/format/damage.h"
#include "storage_node/format/index.h"

namespace tapedeck::storage_node::format {

struct Verdict {
  DamageKind kind = DamageKind::kNone;
  std::string detail;
  std::vector<services::ByteRange> ranges;  // of the payload; empty: all, or unknown
  uint32_t payload_crc32c = 0;              // of the bytes found
  uint32_t stray_crc32c = 0;                // the same, if no part of them belongs there
};

Verdict CheckBlock(const RecordingIdentity& identity, uint64_t sequence, Place place,
                   const IndexEntry& entry, uint32_t piece_bytes,
                   std::span<const std::byte> payload);

}  // namespace tapedeck::storage_node::format
