// Admits sessions: a record session gets a fresh recording, or into a triggered channel a sink that
// waits for triggers; a playback session gets a reader (playback.h).
#pragma once

#include "services/session/serving/host.h"
#include "storage_node/admission/node_resources.h"

namespace tapedeck::storage_node::admission {

// Any thread. Owned by the node. What a session needs of the disk before any block moves is done on
// the LUN's queue.
class RecordingHost final : public services::session::SessionHost {
 public:
  explicit RecordingHost(NodeResources& resources) : resources_(resources) {}

  void Admit(const services::session::Open& open, dataplane::Executor& executor,
             std::shared_ptr<services::session::AdmissionWatch> watch,
             services::session::OnAdmitted admitted) override;

 private:
  NodeResources& resources_;
};

}  // namespace tapedeck::storage_node::admission
