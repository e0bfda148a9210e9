// How the bytes of a damaged block tell the kinds of damage apart.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/model/recording/damage_kind.h"
#include "services/model/recording/recording.h"
#include "storage_node/format/pieces.h"

namespace tapedeck::storage_node::format {

using services::DamageKind;

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
