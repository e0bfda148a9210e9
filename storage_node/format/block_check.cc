#include "storage_node/format/block_check.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"

namespace tapedeck::storage_node::format {
namespace {

std::string RangesText(const std::vector<services::ByteRange>& ranges) {
  std::string text;
  for (const services::ByteRange& range : ranges) {
    absl::StrAppend(&text, text.empty() ? ", damaged bytes: " : ", ", range.offset, "+",
                    range.bytes);
  }
  return text;
}

// Bytes of something else, by all that can be seen.
bool IsStray(const Diagnosis& diagnosis, size_t payload_bytes) {
  const bool written = diagnosis.kind == DamageKind::kRot || diagnosis.kind == DamageKind::kTorn;
  return written && diagnosis.ranges.size() == 1 && diagnosis.ranges[0].bytes == payload_bytes;
}

}  // namespace

Verdict CheckBlock(const RecordingIdentity& identity, uint64_t sequence, Place place,
                   const IndexEntry& entry, uint32_t piece_bytes,
                   std::span<const std::byte> payload) {
  const uint32_t crc = dataplane::Crc32c(payload);
  const uint32_t check =
      CheckValue(identity, sequence, place, crc, static_cast<uint32_t>(payload.size()));
  if (check == entry.check && payload.size() == entry.payload_bytes) {
    return {.payload_crc32c = crc};
  }
  if (crc == entry.payload_crc32c && payload.size() == entry.payload_bytes) {
    return {.kind = DamageKind::kStale,
            .detail = absl::StrCat("entry and payload agree (", absl::Hex(crc),
                                   ") but belong to another recording or place"),
            .payload_crc32c = crc};
  }
  Diagnosis diagnosis = Diagnose(entry.pieces, payload, piece_bytes);
  const bool stray = IsStray(diagnosis, payload.size());
  return {.kind = diagnosis.kind,
          .detail = absl::StrCat("payload crc32c expected ", absl::Hex(entry.payload_crc32c),
                                 ", found ", absl::Hex(crc), " on member ", place.member, " bytes ",
                                 place.offset, "+", payload.size(), RangesText(diagnosis.ranges),
                                 diagnosis.detail.empty() ? "" : "; ", diagnosis.detail),
          .ranges = std::move(diagnosis.ranges),
          .payload_crc32c = crc,
          .stray_crc32c = stray ? crc : 0};
}

}  // namespace tapedeck::storage_node::format
