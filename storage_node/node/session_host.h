// Admits sessions: a record session gets a fresh recording, a playback session a reader of one
// (playback.h).
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
  struct NewRecording {
    format::Manifest manifest;
    ResourceName name;
    std::shared_ptr<const void> held;  // by the writer; holds `lun`
    std::shared_ptr<OpenLun> lun;
    Reservation room;
  };
  absl::StatusOr<services::session::Admission> AdmitRecord(const services::session::Open& open,
                                                           dataplane::Executor& executor);
  absl::StatusOr<services::session::Admission> StartRecording(NewRecording recording,
                                                              dataplane::Executor& executor);
  format::Manifest NewManifest(const services::session::Open& open, const OpenLun& lun,
                               const ResourceName& name, const services::Channel& channel);

  NodeParts& parts_;
};

}  // namespace tapedeck::storage_node
