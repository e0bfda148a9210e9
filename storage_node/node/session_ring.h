// The ring of a session at the storage node.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/ladder/ring_fit.h"
#include "services/session/messages.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// INVALID_ARGUMENT (ARGUMENT_INVALID): the worker's slots are smaller than a block.
absl::Status CheckSlots(const services::session::Open& open, uint64_t block_bytes);

// `op` decides what the peer may do to the ring; `held_slots` are needed beyond those that blocks
// pass through. RESOURCE_EXHAUSTED if not even the least ring can
// be had. Any thread.
absl::StatusOr<dataplane::ladder::FittedRing> MakeSessionRing(const StorageSettings& settings,
                                                              OpenLun& lun, uint64_t block_bytes,
                                                              bool playback,
                                                              dataplane::TransferOp op,
                                                              size_t held_slots = 0);

}  // namespace tapedeck::storage_node
