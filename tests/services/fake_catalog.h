// A storage node's catalog in memory, for tests of what lies in front of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::services {

// Any thread.
class FakeCatalog final : public LunCatalog, public ChannelCatalog, public RecordingCatalog {
 public:
  // Puts a recording of 4 blocks into luns/l0/channels/c0.
  void AddRecording(const std::string& id, int64_t open_time_ns,
                    std::vector<Annotation> annotations = {});
  // Puts this one there, under its own name.
  void PutRecording(const Recording& recording);
  // Puts the same there as a segment of a stream.
  void AddSegment(const std::string& stream, uint64_t number, RecordingState state);
  // Until it is called with false, verifications do not begin.
  void HoldVerifications(bool hold);
  int verifying() const;
  // Found by the next verifications.
  void SetDamage(std::vector<DamagedBlock> damage);

  absl::StatusOr<Lun> CreateLun(const Lun& lun, const std::string& request_id) override;
  absl::StatusOr<Lun> GetLun(const std::string& name) override;
  absl::StatusOr<std::vector<Lun>> ListLuns() override;
  absl::StatusOr<Lun> UpdateLun(const LunUpdate& update, const std::string& request_id) override;
  absl::Status DeleteLun(const std::string& name, bool force) override;
  // As luns/found, or under the name asked for.
  absl::StatusOr<Lun> AttachLun(const LunAttachment& asked, const std::string& request_id) override;
  absl::Status DetachLun(const std::string& name) override;

  absl::StatusOr<Channel> CreateChannel(const Channel& channel,
                                        const std::string& request_id) override;
  absl::StatusOr<Channel> GetChannel(const std::string& name) override;
  absl::StatusOr<std::vector<Channel>> ListChannels(const std::string& parent) override;
  absl::StatusOr<Channel> UpdateChannel(const ChannelUpdate& update,
                                        const std::string& request_id) override;
  absl::Status DeleteChannel(const std::string& name) override;

  absl::StatusOr<Recording> GetRecording(const std::string& name) override;
  absl::StatusOr<Recording> UpdateRecording(const RecordingUpdate& update) override;
  absl::StatusOr<std::vector<Recording>> RecordingsAfter(const std::string& parent,
                                                         const RecordingKey& after,
                                                         size_t most) override;
  absl::Status DeleteRecording(const std::string& name, const std::string& etag = "") override;
  absl::Status VerifyRecording(const std::string& name,
                               const std::function<bool(const VerifyProgress&)>& report) override;

  std::string last_request_id() const;
  // How often LUNs or channels were listed.
  int lists() const;

 private:
  mutable absl::Mutex mutex_;
  std::map<std::string, Lun> luns_;
  std::map<std::string, Channel> channels_;
  std::map<std::string, Recording> recordings_;
  std::vector<DamagedBlock> damage_;
  bool hold_verifications_ = false;
  int verifying_ = 0;
  int lists_ = 0;
  std::string last_request_id_;
};

}  // namespace tapedeck::services
