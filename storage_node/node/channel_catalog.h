// Channels: made, shown, changed, deleted.
#pragma once

#include "services/model/seams/catalog.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

// Any thread. Owned by the node.
class ChannelService final : public services::ChannelCatalog {
 public:
  explicit ChannelService(recordings::Recordings& recordings) : recordings_(recordings) {}

  absl::StatusOr<services::Channel> CreateChannel(const services::Channel& channel,
                                                  const std::string& request_id) override;
  absl::StatusOr<services::Channel> GetChannel(const std::string& name) override;
  absl::StatusOr<std::vector<services::Channel>> ListChannels(const std::string& parent) override;
  absl::StatusOr<services::Channel> UpdateChannel(const services::ChannelUpdate& update,
                                                  const std::string& request_id) override;
  absl::Status DeleteChannel(const std::string& name) override;

 private:
  absl::StatusOr<services::Channel> Create(services::Channel channel);
  absl::StatusOr<services::Channel> Update(const services::ChannelUpdate& update);

  recordings::Recordings& recordings_;
};

}  // namespace tapedeck::storage_node::node
