// Triggers and markers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "services/model/seams/recorder.h"
#include "storage_node/capture/live_triggers.h"
#include "storage_node/recordings/metadata_writer.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

// Any thread. Owned by the node.
class CaptureService final : public services::RecorderControl {
 public:
  CaptureService(recordings::Recordings& recordings, capture::LiveTriggers& triggers)
      : recordings_(recordings), metadata_(recordings), triggers_(triggers) {}

  absl::StatusOr<std::vector<services::Capture>> TriggerRecording(
      const std::string& channel, const services::Trigger& trigger) override;
  absl::Status Annotate(const std::string& recording,
                        std::span<const services::Annotation> annotations) override;
  absl::StatusOr<services::model::Marked> AnnotateStream(
      const std::string& recording, std::span<const services::Annotation> annotations) override;
  absl::Status KeepRecording(const std::string& recording, bool kept) override;

 private:
  recordings::Recordings& recordings_;
  recordings::MetadataWriter metadata_;
  capture::LiveTriggers& triggers_;
};

}  // namespace tapedeck::storage_node::node
