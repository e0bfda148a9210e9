// Compares the two copies of a closed recording's index, and rewrites what one has damaged from the
// other. Payload is neither read nor written.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/clock.h"
#include "storage_node/format/manifest.h"
#include "storage_node/repair/repair_progress.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::repair {

// Waits for the disk. The pages before the entries, and those of the blocks from `first` on; an
// index of one copy is left alone. `manifest` is of a closed recording, which the caller protects
// from deletion. `writing` is held while something is rewritten: whoever may repair the same
// recording shares it. OK also if damage stays: that is in the reports. An entry that no copy has
// is in none; verification finds it. CANCELLED if `report` returned false.
absl::Status RepairIndex(store::Store& store, const store::RecordingPath& path,
                         const format::Manifest& manifest, uint64_t first,
                         const dataplane::Clock& clock, absl::Mutex& writing,
                         const std::function<bool(const RepairProgress&)>& report);

}  // namespace tapedeck::storage_node::repair
