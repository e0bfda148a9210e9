// Makes recordings for sessions to write: files, catalog row, writer.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "services/session/messages.h"
#include "storage_node/node/parts.h"
#include "storage_node/recording_writer.h"
#include "storage_node/trigger_sink.h"

namespace tapedeck::storage_node {

// What a session records into. Held by whoever makes recordings in it.
struct RecordTarget {
  ResourceName name;  // of the channel
  services::Channel channel;
  std::shared_ptr<OpenLun> lun;
  services::session::Open open;
  dataplane::TransferOp op = dataplane::TransferOp::kRead;
};

// NOT_FOUND (LUN_NOT_FOUND, CHANNEL_NOT_FOUND), INVALID_ARGUMENT. Any thread.
absl::StatusOr<RecordTarget> FindTarget(NodeParts& parts, const services::session::Open& open);

// Makes a fresh recording, locked by its writer, whose blocks come from a ring of `ring_slots` and
// have been checked by `arrivals`. Refuses what the LUN has no room for: RESOURCE_EXHAUSTED
// (LUN_FULL). On `executor`; waits for the file system's metadata.
absl::StatusOr<ArmedRecording> MakeRecording(NodeParts& parts, const RecordTarget& target,
                                             size_t ring_slots,
                                             std::shared_ptr<PieceCheck> arrivals,
                                             dataplane::Executor& executor);

}  // namespace tapedeck::storage_node
