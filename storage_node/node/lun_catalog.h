// LUNs: made, shown, changed, deleted, taken from elsewhere and given away.
#pragma once

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

// Any thread. Owned by the node.
class LunService final : public services::LunCatalog {
 public:
  explicit LunService(recordings::Recordings& recordings) : recordings_(recordings) {}

  absl::StatusOr<services::Lun> CreateLun(const services::Lun& lun,
                                          const std::string& request_id) override;
  absl::StatusOr<services::Lun> GetLun(const std::string& name) override;
  absl::StatusOr<std::vector<services::Lun>> ListLuns() override;
  absl::StatusOr<services::Lun> UpdateLun(const services::LunUpdate& update,
                                          const std::string& request_id) override;
  absl::Status DeleteLun(const std::string& name, bool force) override;
  absl::StatusOr<services::Lun> AttachLun(const services::LunAttachment& asked,
                                          const std::string& request_id) override;
  absl::Status DetachLun(const std::string& name) override;

 private:
  absl::StatusOr<services::Lun> Create(services::Lun lun);
  services::Lun Present(const std::string& id, const luns::OpenLun& lun);
  services::Lun PresentOffline(const std::string& id, const luns::OfflineLun& lun);
  uint64_t CountOf(const std::string& id) const;
  // Its members stay as they are.
  absl::Status Forget(const std::string& id);
  absl::Status DeleteContents(const std::vector<catalog::RecordingRow>& rows,
                              const luns::OpenLun& lun);

  recordings::Recordings& recordings_;
};

// All of it or nothing. The errors of UpdateLun in catalog.proto. Any thread; waits for the LUN's
// disks.
absl::Status UpdateLun(recordings::Recordings& recordings, const services::LunUpdate& update);

}  // namespace tapedeck::storage_node::node
