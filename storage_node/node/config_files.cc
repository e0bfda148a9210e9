#include "storage_node/node/config_files.h"

#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/durable_file.h"
#include "storage_node/format/config.h"
#include "storage_node/names.h"

namespace tapedeck::storage_node {
namespace {

std::string LunDirectory(const std::string& state_dir) { return absl::StrCat(state_dir, "/luns"); }

std::string LunFile(const std::string& state_dir, const std::string& lun_id) {
  return absl::StrCat(LunDirectory(state_dir), "/", lun_id, ".json");
}

std::string ChannelDirectory(const OpenLun& lun, const std::string& channel_id) {
  return absl::StrCat(lun.channel_root, "/", channel_id);
}

}  // namespace

absl::StatusOr<std::vector<services::Lun>> ReadLunFiles(const std::string& state_dir) {
  std::vector<services::Lun> luns;
  TD_ASSIGN_OR_RETURN(const auto names, disk::ListDirectory(LunDirectory(state_dir), state_dir));
  for (const std::string& name : names) {
    if (!absl::EndsWith(name, ".json")) continue;
    const std::string path = absl::StrCat(LunDirectory(state_dir), "/", name);
    TD_ASSIGN_OR_RETURN(const std::string text, disk::ReadFile(path, state_dir));
    auto lun = format::DecodeLun(text);
    if (!lun.ok()) {
      return absl::DataLossError(absl::StrCat("read ", path, ": ", lun.status().message(),
                                              "; copy MEMBER/.tapedeck/lun.json over it"));
    }
    luns.push_back(*std::move(lun));
  }
  return luns;
}

absl::Status WriteLunFile(const std::string& state_dir, const services::Lun& lun) {
  TD_ASSIGN_OR_RETURN(const ResourceName name, ParseLunName(lun.name));
  TD_RETURN_IF_ERROR(disk::MakeDirectory(LunDirectory(state_dir), state_dir));
  return disk::WriteFileAtomically(LunFile(state_dir, name.lun), format::EncodeLun(lun, 0),
                                   state_dir);
}

absl::Status RemoveLunFile(const std::string& state_dir, const std::string& lun_id) {
  unlink(LunFile(state_dir, lun_id).c_str());
  TD_RETURN_IF_ERROR(disk::SyncDirectory(LunDirectory(state_dir), state_dir));
  return disk::RemoveTree(absl::StrCat(LunDirectory(state_dir), "/", lun_id, ".channels"),
                          state_dir);
}

std::string ChannelRoot(const std::string& state_dir, const services::Lun& lun) {
  const auto kind = store::FindStoreKind(lun.store);
  if (kind.ok() && kind->has_directories && !lun.members.empty()) return lun.members[0];
  const auto name = ParseLunName(lun.name);
  return absl::StrCat(LunDirectory(state_dir), "/", name.ok() ? name->lun : "", ".channels");
}

absl::StatusOr<std::vector<services::Channel>> ReadChannelFiles(const OpenLun& lun) {
  std::vector<services::Channel> channels;
  TD_ASSIGN_OR_RETURN(const auto ids, disk::ListDirectory(lun.channel_root, lun.channel_root));
  for (const std::string& id : ids) {
    if (!CheckId(id).ok()) continue;
    const std::string path = absl::StrCat(ChannelDirectory(lun, id), "/channel.json");
    if (access(path.c_str(), F_OK) != 0) continue;
    TD_ASSIGN_OR_RETURN(const std::string text, disk::ReadFile(path, lun.channel_root));
    TD_ASSIGN_OR_RETURN(services::Channel channel, format::DecodeChannel(text));
    channels.push_back(std::move(channel));
  }
  return channels;
}

absl::Status WriteChannelFile(const OpenLun& lun, const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(const ResourceName name, ParseChannelName(channel.name));
  const std::string& root = lun.channel_root;
  const std::string directory = ChannelDirectory(lun, name.channel);
  TD_RETURN_IF_ERROR(disk::MakeDirectory(root, root));
  TD_RETURN_IF_ERROR(disk::MakeDirectory(directory, root));
  TD_RETURN_IF_ERROR(disk::WriteFileAtomically(absl::StrCat(directory, "/channel.json"),
                                               format::EncodeChannel(channel), root));
  return disk::SyncDirectory(root, root);
}

absl::Status RemoveChannelFile(const OpenLun& lun, const std::string& channel_id) {
  const std::string directory = ChannelDirectory(lun, channel_id);
  unlink(absl::StrCat(directory, "/channel.json").c_str());
  rmdir(directory.c_str());  // stays if somebody put other files there
  return disk::SyncDirectory(lun.channel_root, lun.channel_root);
}

}  // namespace tapedeck::storage_node
