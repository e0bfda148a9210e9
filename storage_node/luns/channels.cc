#include "storage_node/luns/channels.h"

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/catalog/names.h"
#include "storage_node/luns/config_files.h"

namespace tapedeck::storage_node::luns {
namespace {

// Of a LUN: each has some kilobytes at most.
constexpr size_t kMaxChannels = 1024;

absl::StatusOr<std::string> IdOf(const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
  return name.channel;
}

}  // namespace

std::optional<services::Channel> Channels::Find(const std::string& id) const {
  absl::MutexLock lock(&mutex_);
  const auto it = channels_.find(id);
  if (it == channels_.end()) return std::nullopt;
  return it->second;
}

std::vector<services::Channel> Channels::All() const {
  absl::MutexLock lock(&mutex_);
  std::vector<services::Channel> all;
  for (const auto& [id, channel] : channels_) all.push_back(channel);
  return all;
}

std::set<std::string> Channels::Ids() const {
  absl::MutexLock lock(&mutex_);
  std::set<std::string> ids;
  for (const auto& [id, channel] : channels_) ids.insert(id);
  return ids;
}

absl::Status Channels::Load(const OpenLun& lun) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(lun.config->name));
  TD_ASSIGN_OR_RETURN(const auto rows, catalog_->ListChannels(name.lun));
  std::set<std::string> known;
  std::map<std::string, services::Channel> left;
  for (const services::Channel& row : rows) {
    TD_ASSIGN_OR_RETURN(const std::string id, IdOf(row));
    known.insert(id);
    left[id] = row;
  }
  TD_ASSIGN_OR_RETURN(const auto channels, ReadChannelFiles(lun, known));
  // Not worth a LUN that can be read: its disks may be full.
  if (absl::Status status = DescribeOnMembers(lun, channels); !status.ok()) {
    dataplane::Log(dataplane::LogLevel::kWarning, "channels",
                   "cannot write the channels to the members",
                   {{"lun", lun.config->name}, {"error", std::string(status.message())}});
  }
  for (const services::Channel& channel : channels) {
    TD_ASSIGN_OR_RETURN(const std::string id, IdOf(channel));
    TD_RETURN_IF_ERROR(catalog_->CheckTakes());
    catalog_->PutChannel({.lun = name.lun, .channel = id}, channel);
    left.erase(id);
    absl::MutexLock lock(&mutex_);
    channels_[id] = channel;
  }
  for (const auto& [id, channel] : left) {
    catalog_->DeleteChannel({.lun = name.lun, .channel = id});
  }
  absl::MutexLock lock(&mutex_);
  without_file_ = std::move(left);
  return absl::OkStatus();
}

std::optional<services::Channel> Channels::LastKnown(const std::string& id) const {
  absl::MutexLock lock(&mutex_);
  const auto it = without_file_.find(id);
  if (it == without_file_.end()) return std::nullopt;
  return it->second;
}

absl::Status Channels::CheckRoomFor(const std::string& id) const {
  absl::MutexLock lock(&mutex_);
  if (channels_.size() < kMaxChannels || channels_.contains(id)) return absl::OkStatus();
  return services::LimitReached(
      kMaxChannels, "channels of a LUN",
      absl::StrCat("the LUN has ", kMaxChannels, " channels already; delete some first"));
}

absl::Status Channels::Put(const OpenLun& lun, const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
  TD_RETURN_IF_ERROR(CheckRoomFor(name.channel));
  TD_RETURN_IF_ERROR(catalog_->CheckTakes());
  TD_RETURN_IF_ERROR(WriteChannelFile(lun, channel));
  {
    absl::MutexLock lock(&mutex_);
    channels_[name.channel] = channel;
  }
  catalog_->PutChannel(name, channel);
  return absl::OkStatus();
}

absl::Status Channels::Remove(const OpenLun& lun, const std::string& id) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(lun.config->name));
  TD_RETURN_IF_ERROR(catalog_->CheckTakes());
  TD_RETURN_IF_ERROR(RemoveChannelFile(lun, id));
  {
    absl::MutexLock lock(&mutex_);
    channels_.erase(id);
  }
  catalog_->DeleteChannel({.lun = name.lun, .channel = id});
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::luns
