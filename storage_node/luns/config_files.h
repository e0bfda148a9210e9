// The configuration as files, from which the node starts and the catalog is rebuilt:
//   STATE/luns/LUN.json                  which LUNs there are and where their members lie
//   MEMBER0/CHANNEL/channel.json         channels of a LUN of directories; of a mirror on each
//   member the members' notes (store/notebook.h) channels of a LUN of devices
//   STATE/luns/LUN.channels/CHANNEL/...  channels of a LUN in memory, or of devices without a note
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/base/faults.h"
#include "services/model/seams/catalog.h"
#include "storage_node/luns/luns.h"

namespace tapedeck::storage_node::luns {

// Any thread; blocking. `state_dir` exists. Errors of its files: STATE_UNUSABLE.
// The LUNs of the state directory, and a fault for each file that cannot be read.
struct LunFiles {
  std::vector<services::Lun> luns;
  services::Faults faults;
};
LunFiles LookAtLunFiles(const std::string& state_dir);
// The same, or the first of the faults.
absl::StatusOr<std::vector<services::Lun>> ReadLunFiles(const std::string& state_dir);
absl::Status WriteLunFile(const std::string& state_dir, const services::Lun& lun);
// Whether the file of `lun` has just this.
bool LunFileSays(const std::string& state_dir, const services::Lun& lun);
// What the members say of the LUN stays, and so do channels that only this directory has. After an
// error the file is there as before.
absl::Status ForgetLunFile(const std::string& state_dir, const std::string& lun_id);
// Of a LUN without channels: the folder that they lay in, unless others have put files there.
void RemoveChannelFolder(const std::string& state_dir, const std::string& lun_id);

// Where a LUN of this configuration keeps its channels.
std::string ChannelRoot(const std::string& state_dir, const services::Lun& lun);

// What is no channel of this LUN is left out and named in the log. An error if it is one of
// `known`, which the LUN had: then it is damaged.
absl::StatusOr<std::vector<services::Channel>> ReadChannelFiles(const OpenLun& lun,
                                                                const std::set<std::string>& known);
// These two by Channels alone, which knows what they have.
// FAILED_PRECONDITION (MEMBER_NOT_EMPTY): others have files in a directory of that name.
// RESOURCE_EXHAUSTED (LIMIT_REACHED): the members have no room for one more.
absl::Status WriteChannelFile(const OpenLun& lun, const services::Channel& channel);
// The directory stays where others have put files into it.
absl::Status RemoveChannelFile(const OpenLun& lun, const std::string& channel_id);
// What the members say of an open LUN becomes `config`. The caller holds lun.describing.
absl::Status WriteLunOnMembers(const OpenLun& lun, const services::Lun& config);
// The same of those that it is to get, which say so before anybody relies on them.
absl::Status WriteLunOnNewMembers(const OpenLun& lun, const services::Lun& config,
                                  const store::ListedMembers& more);
// Where a member does not say yet what the LUN and its channels are, or a change was cut short, it
// is told. `channels`: those that were read.
absl::Status DescribeOnMembers(const OpenLun& lun, const std::vector<services::Channel>& channels);

}  // namespace tapedeck::storage_node::luns
