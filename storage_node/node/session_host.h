// Admits sessions: a record session gets a fresh recording, or into a triggered channel a sink that
// waits for triggers; a playback session gets a reader (playback.h).
#pragma once

#include "services/session/host.h"
#include "storage_node/node/parts.h"

namespace tapedeck::storage_node {

// Any thread. Owned by the node. Admitting creates or opens files and writes one row: it may wait
// for the file system's metadata, once per session and before any block moves.
class RecordingHost final : public services::session::SessionHost {
 public:
  explicit RecordingHost(NodeParts& parts) : parts_(parts) {}

  absl::StatusOr<services::session::Admission> Admit(const services::session::Open& open,
                                                     dataplane::Executor& executor) override;

 private:
  NodeParts& parts_;
};

}  // namespace tapedeck::storage_node
