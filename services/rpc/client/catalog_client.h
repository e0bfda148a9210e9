// A storage node's catalog, from afar and in plain values. Errors are those of the node, or name it
// (NODE_UNREACHABLE).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/catalog.h"
#include "services/rpc/client/calls/service_client.h"

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for `time`; listings fetch all pages, each within it.
class CatalogClient final : public ServiceClient {
 public:
  CatalogClient(const client::Channel& channel, const CallTime& time)
      : ServiceClient(channel, time, "tapedeck.v1.CatalogService") {}

  absl::StatusOr<Lun> CreateLun(const Lun& lun);
  absl::StatusOr<Lun> GetLun(const std::string& name);
  absl::StatusOr<std::vector<Lun>> ListLuns();
  absl::StatusOr<Lun> UpdateLun(const LunUpdate& update);
  absl::Status DeleteLun(const std::string& name, bool force);
  // Waits `timeout` for it: each recording is looked at.
  absl::StatusOr<Lun> AttachLun(const LunAttachment& asked, absl::Duration timeout);
  absl::Status DetachLun(const std::string& name);

  absl::StatusOr<services::Channel> CreateChannel(const services::Channel& channel);
  absl::StatusOr<services::Channel> GetChannel(const std::string& name);
  absl::StatusOr<std::vector<services::Channel>> ListChannels(const std::string& parent);
  absl::StatusOr<services::Channel> UpdateChannel(const ChannelUpdate& update);
  absl::Status DeleteChannel(const std::string& name);

  absl::StatusOr<Recording> GetRecording(const std::string& name);
  absl::StatusOr<Recording> UpdateRecording(const RecordingUpdate& update);
  // Every page of them; or the first `most`, if that is not 0.
  absl::StatusOr<std::vector<Recording>> ListRecordings(const std::string& parent, int most = 0);
  // If it still has that Recording::etag; empty: whatever it has.
  absl::Status DeleteRecording(const std::string& name, const std::string& etag = "");
  // Calls `report` as the node works; OK once every block has been checked.
  absl::Status VerifyRecording(const std::string& name, absl::Duration timeout,
                               const std::function<void(const VerifyProgress&)>& report);
};

}  // namespace tapedeck::services::client
