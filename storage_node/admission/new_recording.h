// Makes recordings for sessions to write: files, catalog row, writer.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "services/session/protocol/messages.h"
#include "storage_node/admission/node_resources.h"
#include "storage_node/admission/record_target.h"
#include "storage_node/capture/armed_recording.h"

namespace tapedeck::storage_node::admission {

// Of one recording: beyond, bytes would no longer fit their counter.
inline constexpr uint64_t kMaxBlocks = uint64_t{1} << 40;

// Of a segment, but for a stream's last one: smaller ones would cost more than they hold.
inline constexpr uint64_t kMinSegmentBlocks = 16;

// Blocks of a segment of the channel; 0: a session makes one recording.
uint64_t SegmentBlocks(const services::Channel& channel, const luns::LunTerms& lun);

// Room for the session, as it says how long it will be. RESOURCE_EXHAUSTED (LUN_FULL).
absl::StatusOr<recording::Reservation> ReserveRoom(NodeResources& resources,
                                                   const RecordTarget& target, uint64_t blocks);

// So many bytes of it; `least` must be free where they are none. RESOURCE_EXHAUSTED (LUN_FULL).
absl::StatusOr<recording::Reservation> ReserveBytes(NodeResources& resources,
                                                    const RecordTarget& target, uint64_t bytes,
                                                    uint64_t least);

// Of its LUN's capacity, by one recording with so many blocks.
uint64_t BytesOfOne(const RecordTarget& target, uint64_t blocks);

// NOT_FOUND (LUN_NOT_FOUND, CHANNEL_NOT_FOUND), INVALID_ARGUMENT. Any thread.
absl::StatusOr<RecordTarget> FindTarget(NodeResources& resources,
                                        const services::session::Open& open);

// FAILED_PRECONDITION (CHANNEL_IN_USE): of a session that records a part, where there can be none.
absl::Status CheckPart(const RecordTarget& target);

// INVALID_ARGUMENT (ARGUMENT_INVALID): of a copy or an import, which the channel would not keep
// whole. Waits for the catalog.
absl::Status CheckWhole(NodeResources& resources, const RecordTarget& target);

// Makes the files of a fresh recording, locked by its writer to be, whose blocks come from a ring
// of `ring_slots` and have been checked by `arrivals`. Refuses what the LUN has no room for:
// RESOURCE_EXHAUSTED (LUN_FULL). On the LUN's queue; the writer lives on `executor`.
absl::StatusOr<capture::ArmRecording> PrepareRecording(
    NodeResources& resources, const RecordTarget& target, size_t ring_slots,
    std::shared_ptr<dataplane::ArrivalCrcs> arrivals, dataplane::Executor& executor);

}  // namespace tapedeck::storage_node::admission
