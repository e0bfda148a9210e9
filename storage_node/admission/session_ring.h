// The ring of a session at the storage node.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/ladder/ring_fit.h"
#include "services/session/protocol/messages.h"
#include "storage_node/admission/node_resources.h"

namespace tapedeck::storage_node::admission {

// INVALID_ARGUMENT (ARGUMENT_INVALID): the worker's slots are smaller than a block.
absl::Status CheckSlots(const services::session::Open& open, uint64_t block_bytes);

// What a session needs its ring for.
struct RingNeed {
  std::shared_ptr<luns::OpenLun> lun;
  uint64_t block_bytes = 0;
  bool playback = false;
  dataplane::TransferOp op = dataplane::TransferOp::kRead;  // decides what the peer may do to it
  size_t held_slots = 0;                                    // beyond those that blocks pass through

  uint64_t bytes(const RingSettings& settings) const;
};

// RESOURCE_EXHAUSTED if not even the least ring can be had; CANCELLED if `on_resident` said so. Any
// thread; large rings take seconds.
absl::StatusOr<dataplane::ladder::FittedRing> MakeSessionRing(
    const RingSettings& settings, const RingNeed& need,
    const dataplane::OnResident& on_resident = nullptr);

}  // namespace tapedeck::storage_node::admission
