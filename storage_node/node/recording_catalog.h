// Recordings: shown, verified, deleted. They are made by sessions.
#pragma once

#include "services/model/seams/catalog.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

// Any thread. Owned by the node.
class RecordingService final : public services::RecordingCatalog {
 public:
  explicit RecordingService(recordings::Recordings& recordings) : recordings_(recordings) {}

  absl::StatusOr<services::Recording> GetRecording(const std::string& name) override;
  absl::StatusOr<std::vector<services::Recording>> RecordingsAfter(
      const std::string& parent, const services::RecordingKey& after, size_t most) override;
  absl::StatusOr<services::Recording> UpdateRecording(
      const services::RecordingUpdate& update) override;
  absl::Status DeleteRecording(const std::string& name, const std::string& etag = "") override;
  absl::Status VerifyRecording(
      const std::string& name,
      const std::function<bool(const services::VerifyProgress&)>& report) override;

 private:
  recordings::Recordings& recordings_;
};

}  // namespace tapedeck::storage_node::node
