// What a null node says of its channels and recordings, so that a worker's jobs use it as they use
// a storage node. Their names are all there is to know: luns/null/channels/{bytes of a block} and
// beneath it recordings/{blocks}. Everything else is UNIMPLEMENTED.
#pragma once

#include <string>

#include "services/model/seams/catalog.h"

namespace tapedeck::bench {

// Of a channel or a recording by its name; `blocks` 0 of a channel. NOT_FOUND.
struct NullTarget {
  uint64_t block_bytes = 0;
  uint64_t blocks = 0;
};
absl::StatusOr<NullTarget> NullTargetOf(const std::string& name);

// Any thread.
class NullCatalog final : public services::LunCatalog,
                          public services::ChannelCatalog,
                          public services::RecordingCatalog {
 public:
  absl::StatusOr<services::Lun> CreateLun(const services::Lun&, const std::string&) override;
  absl::StatusOr<services::Lun> GetLun(const std::string&) override;
  absl::StatusOr<std::vector<services::Lun>> ListLuns() override;
  absl::StatusOr<services::Lun> UpdateLun(const services::LunUpdate&, const std::string&) override;
  absl::Status DeleteLun(const std::string&, bool) override;
  absl::StatusOr<services::Lun> AttachLun(const services::LunAttachment&,
                                          const std::string&) override;
  absl::Status DetachLun(const std::string&) override;

  absl::StatusOr<services::Channel> CreateChannel(const services::Channel&,
                                                  const std::string&) override;
  absl::StatusOr<services::Channel> GetChannel(const std::string& name) override;
  absl::StatusOr<std::vector<services::Channel>> ListChannels(const std::string&) override;
  absl::StatusOr<services::Channel> UpdateChannel(const services::ChannelUpdate&,
                                                  const std::string&) override;
  absl::Status DeleteChannel(const std::string&) override;

  absl::StatusOr<services::Recording> GetRecording(const std::string& name) override;
  absl::StatusOr<std::vector<services::Recording>> RecordingsAfter(const std::string&,
                                                                   const services::RecordingKey&,
                                                                   size_t) override;
  absl::StatusOr<services::Recording> UpdateRecording(const services::RecordingUpdate&) override;
  absl::Status DeleteRecording(const std::string&, const std::string&) override;
  absl::Status VerifyRecording(
      const std::string&, const std::function<bool(const services::VerifyProgress&)>&) override;
};

}  // namespace tapedeck::bench
