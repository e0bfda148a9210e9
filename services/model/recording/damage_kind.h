// What can be wrong with a block of a recording, as in tapedeck/v1/catalog.proto, and the names of
// it for people and programs. How the bytes tell the kinds apart: storage_node/format/README.md.
#pragma once

#include <utility>

#include "absl/strings/string_view.h"
#include "services/model/words/names.h"

namespace tapedeck::services::model {

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

template <>
struct EnumNames<DamageKind> {
  using enum DamageKind;
  static constexpr absl::string_view kWhat = "kind of damage";
  static constexpr std::pair<DamageKind, absl::string_view> kTable[] = {
      {kNone, "none"},
      {kRot, "rot"},
      {kTorn, "torn"},
      {kZeroed, "zeroed"},
      {kStale, "stale"},
      {kMisdirected, "misdirected"},
      {kSwapped, "swapped"},
      {kTruncated, "truncated"},
      {kMissing, "missing"},
      {kHeader, "header"},
      {kIndex, "index"},
      {kManifest, "manifest"},
      {kIo, "io"}};
};

// Whether it is one block's damage; else it is that of a file beside the payload.
inline bool IsOfBlock(DamageKind kind) {
  return kind != DamageKind::kHeader && kind != DamageKind::kManifest;
}

}  // namespace tapedeck::services::model
namespace tapedeck::services {

using model::DamageKind;

}  // namespace tapedeck::services
