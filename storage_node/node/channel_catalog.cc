#include "storage_node/node/channel_catalog.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/catalog/once.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/node/changes.h"
#include "storage_node/node/channel_check.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {

absl::StatusOr<services::Channel> ChannelService::CreateChannel(const services::Channel& channel,
                                                                const std::string& request_id) {
  return catalog::Once<services::Channel>(
      *recordings_.catalog(), request_id, "channel", channel.name,
      [&] { return GetChannel(channel.name); }, [&] { return Create(channel); });
}

absl::StatusOr<services::Channel> ChannelService::Create(services::Channel channel) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
  {
    TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(name.lun));
    TD_RETURN_IF_ERROR(CheckChannel(channel, lun->terms()));
  }
  const auto lease = recordings_.leases().TakeExclusive(channel.name);
  TD_ASSIGN_OR_RETURN(const auto existing, recordings_.catalog()->GetChannel(name));
  if (existing.has_value()) {
    return services::WithReason(
        absl::AlreadyExistsError(absl::StrCat(channel.name, " exists; choose another name")),
        "CHANNEL_EXISTS", {{"channel", channel.name}});
  }
  if (lease == nullptr) {
    return services::ChannelInUse(channel.name, "is being created or its LUN deleted");
  }
  // Only under the lease is it sure that the LUN stays.
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(name.lun));
  const absl::MutexLock lock(lun->changing.get());
  TD_RETURN_IF_ERROR(CheckChannel(channel, lun->terms()));
  channel.create_time_ns = recordings_.luns().clock().WallNs();
  TD_RETURN_IF_ERROR(luns::WriteChannelFile(*lun, channel));
  TD_RETURN_IF_ERROR(recordings_.catalog()->PutChannel(name, channel));
  return channel;
}

absl::StatusOr<services::Channel> ChannelService::UpdateChannel(
    const services::ChannelUpdate& update, const std::string& request_id) {
  return catalog::Once<services::Channel>(
      *recordings_.catalog(), request_id, "a change of channel", update.name,
      [&] { return GetChannel(update.name); }, [&] { return Update(update); });
}

// The channel's file is what a start goes by, so it is written before the catalog's row, from which
// sessions take a copy as they begin. A session under way holds leases on its recordings alone.
absl::StatusOr<services::Channel> ChannelService::Update(const services::ChannelUpdate& update) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(update.name));
  TD_RETURN_IF_ERROR(recordings_.FindChannel(name).status());
  const auto lease = recordings_.leases().TakeShared(update.name);
  if (lease == nullptr) return services::ChannelInUse(update.name, "is being created or deleted");
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(name.lun));
  const absl::MutexLock lock(lun->changing.get());
  TD_ASSIGN_OR_RETURN(const services::Channel before, recordings_.FindChannel(name));
  services::Channel after = services::Updated(before, update);
  TD_RETURN_IF_ERROR(CheckChannel(after, lun->terms()));
  TD_RETURN_IF_ERROR(luns::WriteChannelFile(*lun, after));
  if (absl::Status put = recordings_.catalog()->PutChannel(name, after); !put.ok()) {
    luns::WriteChannelFile(*lun, before).IgnoreError();
    return put;
  }
  dataplane::Log(dataplane::LogLevel::kInfo, "channel_catalog", "channel changed",
                 {{"channel", update.name}, {"changes", Changes(before, after)}});
  return after;
}

absl::StatusOr<services::Channel> ChannelService::GetChannel(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed, catalog::ParseChannelName(name));
  return recordings_.FindChannel(parsed);
}

absl::StatusOr<std::vector<services::Channel>> ChannelService::ListChannels(
    const std::string& parent) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed,
                      catalog::ParseLunName(parent, catalog::Wildcard::kAllowed));
  if (parsed.lun != "-") TD_RETURN_IF_ERROR(recordings_.luns().CheckExists(parsed.lun));
  return recordings_.catalog()->ListChannels(parsed.lun);
}

absl::Status ChannelService::DeleteChannel(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed, catalog::ParseChannelName(name));
  TD_RETURN_IF_ERROR(recordings_.FindChannel(parsed).status());
  const auto lease = recordings_.leases().TakeExclusive(name);
  if (lease == nullptr) {
    return services::ChannelInUse(name, "is being recorded or played; end those sessions first");
  }
  TD_RETURN_IF_ERROR(recordings_.FindChannel(parsed).status());
  TD_ASSIGN_OR_RETURN(const uint64_t recordings, recordings_.catalog()->CountRecordings(parsed));
  if (recordings > 0) {
    return services::ChannelInUse(
        name, absl::StrCat("holds ", recordings, " recordings; delete them first"));
  }
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(parsed.lun));
  TD_RETURN_IF_ERROR(luns::RemoveChannelFile(*lun, parsed.channel));
  dataplane::Log(dataplane::LogLevel::kInfo, "channel_catalog", "channel deleted",
                 {{"channel", name}, {"why", "asked for"}});
  return recordings_.catalog()->DeleteChannel(parsed);
}

}  // namespace tapedeck::storage_node::node
