// Compares the manifest copies of a closed recording, and replaces what one has lost from the
// other.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "storage_node/format/manifest.h"
#include "storage_node/repair/repair_progress.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::repair {

// DATA_LOSS unless `text` is a sound manifest of the recording of `manifest`, and says that it is
// closed. ABORTED: it is one, and says that nobody closed it yet.
absl::Status CheckManifestText(const std::string& text, const format::Manifest& manifest);

// Waits for the disk. A manifest of one copy is left alone unless it is lost. `manifest` is what
// the catalog has: where sound copies of one generation differ, the one that says the same is the
// newer; where all are lost, it is written if the index has a sound header, of this recording, and
// nobody ordered its deletion. The caller protects the recording from deletion, and its manifest
// from everybody else who would replace it. OK also if damage stays.
absl::StatusOr<RepairProgress> RepairManifest(store::Store& store, const store::RecordingPath& path,
                                              const format::Manifest& manifest,
                                              const dataplane::Clock& clock);

}  // namespace tapedeck::storage_node::repair
