// Is this payload the block that was asked for? The one rule by which reader, verification and
// recovery judge, and the names they give to damage.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "storage_node/format/index.h"

namespace tapedeck::storage_node::format {

enum class DamageKind {
  kNone,
  kRot,          // the bytes changed after they were written, or were never all written
  kStale,        // entry and bytes agree with each other but belong to another recording or place
  kMisdirected,  // the bytes are those of another block
  kMissing,      // known never to have been stored
  kIndex,        // no copy of the index entry can be read
  kIo,           // the member returned an error
};

std::string DamageName(DamageKind kind);

struct Verdict {
  DamageKind kind = DamageKind::kNone;
  std::string detail;
  uint32_t payload_crc32c = 0;  // of the bytes found
};

Verdict CheckBlock(const RecordingIdentity& identity, uint64_t sequence, Place place,
                   const IndexEntry& entry, std::span<const std::byte> payload);

}  // namespace tapedeck::storage_node::format
