// What a record session writes into.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "services/model/recording/sample_time.h"
#include "services/session/protocol/messages.h"
#include "services/session/transfer/session_stage_times.h"
#include "storage_node/admission/node_resources.h"

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
  // Secret, as the manifests of its recordings have it; empty: none of them can be gone on with.
  std::string resume_token;
  // Of a session in segments: the ID of the first, or empty for itself, and how many came before.
  std::string stream;
  std::optional<uint64_t> segment;
  // Of a capture: when its first sample was taken, which its ID says; none: not known.
  services::model::SampleTime begin_ns;
  // Shared by the session and its recordings.
  std::shared_ptr<services::session::SessionStageTimes> stages =
      std::make_shared<services::session::SessionStageTimes>();
};

}  // namespace tapedeck::storage_node::admission
