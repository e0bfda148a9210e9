// The configuration as files, from which the node starts and the catalog is rebuilt:
//   STATE/luns/LUN.json                  which LUNs there are and where their members lie
//   MEMBER0/CHANNEL/channel.json         channels of a LUN of directories
//   STATE/luns/LUN.channels/CHANNEL/...  channels of any other
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/catalog.h"
#include "storage_node/node/lun_table.h"

namespace tapedeck::storage_node {

// Any thread; blocking. `state_dir` exists.
absl::StatusOr<std::vector<services::Lun>> ReadLunFiles(const std::string& state_dir);
absl::Status WriteLunFile(const std::string& state_dir, const services::Lun& lun);
absl::Status RemoveLunFile(const std::string& state_dir, const std::string& lun_id);

// Where a LUN of this configuration keeps its channels.
std::string ChannelRoot(const std::string& state_dir, const services::Lun& lun);

absl::StatusOr<std::vector<services::Channel>> ReadChannelFiles(const OpenLun& lun);
absl::Status WriteChannelFile(const OpenLun& lun, const services::Channel& channel);
absl::Status RemoveChannelFile(const OpenLun& lun, const std::string& channel_id);

}  // namespace tapedeck::storage_node
