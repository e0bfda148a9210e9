// The names of damage, and how the bytes of a damaged block tell them apart.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/recording.h"
#include "storage_node/format/pieces.h"

namespace tapedeck::storage_node::format {

enum class DamageKind {
  kNone,
  kRot,          // bytes changed after they were written
  kTorn,         // a write that did not reach the disk, or only in part
  kZeroed,       // zeros where something was written
  kStale,        // whole and sound, but of an earlier recording or another place
  kMisdirected,  // the bytes are those of another block
  kSwapped,      // misdirected, and that block has these bytes
  kTruncated,    // the data file ends before the block does
  kMissing,      // known never to have been stored
  kHeader,       // the first pages of an index copy are not those of this recording
  kIndex,        // no copy of the index entry can be read
  kManifest,     // a manifest copy is gone, damaged, or not the newest
  kIo,           // the member returned an error
};

std::string DamageName(DamageKind kind);

// Of a read that failed, and of an index entry that could not be had.
DamageKind KindOfReadError(const absl::Status& status);
DamageKind KindOfEntryError(const absl::Status& status);

struct Diagnosis {
  DamageKind kind = DamageKind::kRot;
  std::vector<services::ByteRange> ranges;  // whole pieces; neighbours are one range
  std::string detail;
};

// Why a payload whose pieces should have the CRCs `expected` does not. README.md has the rules;
// where several kinds could have left these bytes, the likeliest.
Diagnosis Diagnose(const PieceCrcs& expected, std::span<const std::byte> payload,
                   uint32_t piece_bytes);

}  // namespace tapedeck::storage_node::format
