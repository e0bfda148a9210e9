// Makes recordings for sessions to write: files, catalog row, writer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "services/session/messages.h"
#include "services/session/stage_board.h"
#include "storage_node/admission/means.h"
#include "storage_node/capture/armed_recording.h"

namespace tapedeck::storage_node::admission {

// What a session records into. Held by whoever makes recordings in it.
struct RecordTarget {
  catalog::ResourceName name;  // of the channel
  services::Channel channel;
  std::shared_ptr<luns::OpenLun> lun;
  // As SegmentBlocks says when the session begins, and so until it ends.
  uint64_t segment_blocks = 0;
  services::session::Open open;
  dataplane::TransferOp op = dataplane::TransferOp::kRead;
  // Of the LUN, for this and the recordings that follow it; null: each sees for itself.
  std::shared_ptr<recording::Reservation> room;
  // Of a session in segments: the ID of the first, or empty for itself, and how many came before.
  std::string stream;
  std::optional<uint64_t> segment;
  // Shared by the session and its recordings.
  std::shared_ptr<services::session::StageBoard> stages =
      std::make_shared<services::session::StageBoard>();
};

// Blocks of a segment of the channel; 0: a session makes one recording.
uint64_t SegmentBlocks(const services::Channel& channel, const luns::LunTerms& lun);

// Room for the session, as it says how long it will be. RESOURCE_EXHAUSTED (LUN_FULL).
absl::StatusOr<recording::Reservation> ReserveRoom(Means& means, const RecordTarget& target,
                                                   uint64_t blocks);

// NOT_FOUND (LUN_NOT_FOUND, CHANNEL_NOT_FOUND), INVALID_ARGUMENT. Any thread.
absl::StatusOr<RecordTarget> FindTarget(Means& means, const services::session::Open& open);

// Makes the files of a fresh recording, locked by its writer to be, whose blocks come from a ring
// of `ring_slots` and have been checked by `arrivals`. Refuses what the LUN has no room for:
// RESOURCE_EXHAUSTED (LUN_FULL). On the LUN's desk; the writer lives on `executor`.
absl::StatusOr<capture::ArmRecording> PrepareRecording(
    Means& means, const RecordTarget& target, size_t ring_slots,
    std::shared_ptr<recording::PieceCheck> arrivals, dataplane::Executor& executor);

}  // namespace tapedeck::storage_node::admission
