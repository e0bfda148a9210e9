// What can be wrong with a block of a recording, as in tapedeck/v1/catalog.proto, and the names of
// it for people and programs. How the bytes tell the kinds apart: storage_node/format/README.md.
#pragma once

#include <utility>

#include "absl/strings/string_view.h"

namespace tapedeck::services {

enum class DamageKind {
  kNone = 0,
  kRot = 1,          // bytes changed after they were written
  kTorn = 2,         // a write that did not reach the disk, or only in part
  kZeroed = 3,       // zeros where something was written
  kStale = 4,        // whole and sound, but of an earlier recording or another place
  kMisdirected = 5,  // the bytes are those of another block
  kSwapped = 6,      // misdirected, and that block has these bytes
  kTruncated = 7,    // the data file ends before the block does
  kMissing = 8,      // known never to have been stored
  kHeader = 9,       // the first pages of an index copy are not those of this recording
  kIndex = 10,       // no copy of the index entry can be read
  kManifest = 11,    // a manifest copy is gone, damaged, or not the newest
  kIo = 12,          // the member returned an error
};

inline constexpr std::pair<DamageKind, absl::string_view> kDamageNames[] = {
    {DamageKind::kNone, "none"},
    {DamageKind::kRot, "rot"},
    {DamageKind::kTorn, "torn"},
    {DamageKind::kZeroed, "zeroed"},
    {DamageKind::kStale, "stale"},
    {DamageKind::kMisdirected, "misdirected"},
    {DamageKind::kSwapped, "swapped"},
    {DamageKind::kTruncated, "truncated"},
    {DamageKind::kMissing, "missing"},
    {DamageKind::kHeader, "header"},
    {DamageKind::kIndex, "index"},
    {DamageKind::kManifest, "manifest"},
    {DamageKind::kIo, "io"}};

constexpr absl::string_view DamageName(DamageKind kind) {
  for (const auto& [candidate, name] : kDamageNames) {
    if (candidate == kind) return name;
  }
  return "unknown";
}

}  // namespace tapedeck::services
