// Reads of blocks and index entries for work that may wait: recovery, verification and copies.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/index/index_reader.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

// As DataFiles::ReadBlockCopy, on the thread of `loop`, which nobody else runs. Waits for a slot of
// `ring`, too: a store tells of a failed read before it has given back the slot of it, so a ring of
// one slot may have none for the next read yet.
absl::StatusOr<dataplane::Block> AwaitBlock(CallerLoop& loop, store::DataFiles& files,
                                            dataplane::SlotPool& ring, format::Place place,
                                            uint32_t bytes, uint32_t copy = 0);

// As IndexReader::Find, on the thread of `loop`. Valid until the next call.
const absl::StatusOr<format::IndexEntry>& AwaitEntry(CallerLoop& loop, index::IndexReader& index,
                                                     uint64_t sequence);

}  // namespace tapedeck::storage_node::recording
