// The configuration as files, from which the node starts and the catalog is rebuilt:
//   STATE/luns/LUN.json                  which LUNs there are and where their members lie
//   MEMBER0/CHANNEL/channel.json         channels of a LUN of directories
//   STATE/luns/LUN.channels/CHANNEL/...  channels of any other
#pragma once

#include <set>
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

// What is no channel of this LUN is left out and named in the log. An error if it is one of
// `known`, which the LUN had: then it is damaged.
absl::StatusOr<std::vector<services::Channel>> ReadChannelFiles(const OpenLun& lun,
                                                                const std::set<std::string>& known);
// FAILED_PRECONDITION (MEMBER_NOT_EMPTY): others have files in a directory of that name.
absl::Status WriteChannelFile(const OpenLun& lun, const services::Channel& channel);
// The directory stays where others have put files into it.
absl::Status RemoveChannelFile(const OpenLun& lun, const std::string& channel_id);

}  // namespace tapedeck::storage_node
