// What a recording is that the catalog does not know, or knows as unfinished: by its manifest, or
// by its index where that is lost or damaged.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recording {

struct Examined {
  // None: neither manifest nor index nor catalog says what it is. It stays as it is.
  std::optional<format::Manifest> manifest;
  // No member has a sound manifest: this one is as the catalog or the index had it when the
  // recording began, in state RECORDING, and kept, since nobody knows whether it was.
  bool manifest_lost = false;
  // And at least one has a damaged one.
  bool manifest_damaged = false;
  // All that there is of it was read: it was cut off before its manifest was on every member, and
  // its index speaks of no block. Only this makes it one that may be deleted.
  bool holds_nothing = false;
};

// Waits for the disk; changes nothing. `row`: what the catalog has of it; null: nothing. DATA_LOSS:
// a copy of its manifest has a sound check value and is not understood, or manifest and index are
// of different recordings; NOT_FOUND: there are no files.
absl::StatusOr<Examined> Examine(store::Store& store, const store::RecordingPath& path,
                                 const format::Manifest* row, const dataplane::Clock& clock);

}  // namespace tapedeck::storage_node::recording
