// Whether anything at all was written into the payload files of a recording.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recording {

// For one block of the recording.
absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> RingForOne(store::Store& store,
                                                                const format::Manifest& manifest);

// Waits for the disk. True only if all of it was read and is zero; more than 256 MiB of zeros on a
// member count as something.
absl::StatusOr<bool> IsDataBlank(CallerLoop& loop, store::DataFiles& files,
                                 dataplane::SlotPool& ring, const format::Manifest& manifest);

}  // namespace tapedeck::storage_node::recording
