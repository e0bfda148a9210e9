#include "storage_node/format/block_check.h"

#include "absl/strings/str_cat.h"
#include "dataplane/crc32c.h"

namespace tapedeck::storage_node::format {

std::string DamageName(DamageKind kind) {
  switch (kind) {
    case DamageKind::kNone:
      return "none";
    case DamageKind::kRot:
      return "rot";
    case DamageKind::kStale:
      return "stale";
    case DamageKind::kMisdirected:
      return "misdirected";
    case DamageKind::kMissing:
      return "missing";
    case DamageKind::kIndex:
      return "index";
    case DamageKind::kIo:
      return "io";
  }
  return "unknown";
}

Verdict CheckBlock(const RecordingIdentity& identity, uint64_t sequence, Place place,
                   const IndexEntry& entry, std::span<const std::byte> payload) {
  const uint32_t crc = dataplane::Crc32c(payload);
  const uint32_t check =
      CheckValue(identity, sequence, place, crc, static_cast<uint32_t>(payload.size()));
  if (check == entry.check && payload.size() == entry.payload_bytes) {
    return {.payload_crc32c = crc};
  }
  const bool agree = crc == entry.payload_crc32c && payload.size() == entry.payload_bytes;
  return {.kind = agree ? DamageKind::kStale : DamageKind::kRot,
          .detail = agree
                        ? absl::StrCat("entry and payload agree (", absl::Hex(crc),
                                       ") but are not of this recording and place")
                        : absl::StrCat("payload crc32c expected ", absl::Hex(entry.payload_crc32c),
                                       ", found ", absl::Hex(crc), " on member ", place.member,
                                       " bytes ", place.offset, "+", payload.size()),
          .payload_crc32c = crc};
}

}  // namespace tapedeck::storage_node::format
