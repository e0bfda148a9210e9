#include "storage_node/node/channel_catalog.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/catalog/once.h"
#include "storage_node/node/changes.h"
#include "storage_node/node/channel_check.h"
#include "storage_node/opening/reconcile.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {
namespace {

// What it reads then is not changed.
constexpr char kLunIsOpened[] =
    "belongs to a LUN that is being opened, changed or attached; try again when that has ended";

}  // namespace

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
    TD_RETURN_IF_ERROR(CheckLeastSegment(channel));
    TD_RETURN_IF_ERROR(CheckMoveRate(channel));
    TD_RETURN_IF_ERROR(CheckMoveTo(recordings_, channel));
  }
  const auto lease = recordings_.leases().TakeExclusive(channel.name);
  if (recordings_.FindChannel(name).ok()) {
    return services::WithReason(
        absl::AlreadyExistsError(absl::StrCat(channel.name, " exists; choose another name")),
        "CHANNEL_EXISTS", {{"channel", channel.name}});
  }
  if (lease == nullptr) {
    return services::ChannelInUse(channel.name, "is being created or its LUN deleted");
  }
  const auto no_opening = opening::TakeNoOpening(recordings_, name.lun_name());
  if (no_opening == nullptr) return services::ChannelInUse(channel.name, kLunIsOpened);
  // Only under the leases is it sure that the LUN stays.
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(name.lun));
  const absl::MutexLock lock(lun->changing.get());
  TD_RETURN_IF_ERROR(CheckChannel(channel, lun->terms()));
  channel.create_time_ns = recordings_.luns().clock().WallNs();
  TD_RETURN_IF_ERROR(lun->channels->Put(*lun, channel));
  return channel;
}

absl::StatusOr<services::Channel> ChannelService::UpdateChannel(
    const services::ChannelUpdate& update, const std::string& request_id) {
  return catalog::Once<services::Channel>(
      *recordings_.catalog(), request_id, "a change of channel", update.name,
      [&] { return GetChannel(update.name); }, [&] { return Update(update); });
}

// Sessions take a copy as they begin: one that is under way holds leases on its recordings alone.
absl::StatusOr<services::Channel> ChannelService::Update(const services::ChannelUpdate& update) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(update.name));
  TD_RETURN_IF_ERROR(recordings_.FindChannel(name).status());
  const auto lease = recordings_.leases().TakeShared(update.name);
  if (lease == nullptr) return services::ChannelInUse(update.name, "is being created or deleted");
  const auto no_opening = opening::TakeNoOpening(recordings_, name.lun_name());
  if (no_opening == nullptr) return services::ChannelInUse(update.name, kLunIsOpened);
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(name.lun));
  const absl::MutexLock lock(lun->changing.get());
  TD_ASSIGN_OR_RETURN(const services::Channel before, recordings_.FindChannel(name));
  services::Channel after = services::Updated(before, update);
  TD_RETURN_IF_ERROR(CheckChannel(after, lun->terms()));
  if (after.segment_bytes != before.segment_bytes || after.block_bytes != before.block_bytes) {
    TD_RETURN_IF_ERROR(CheckLeastSegment(after));
  }
  if (after.move_bytes_per_s != before.move_bytes_per_s) TD_RETURN_IF_ERROR(CheckMoveRate(after));
  // What it named before may be gone by now.
  if (after.move_to != before.move_to) TD_RETURN_IF_ERROR(CheckMoveTo(recordings_, after));
  TD_RETURN_IF_ERROR(lun->channels->Put(*lun, after));
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
  if (parsed.lun != "-") return recordings_.ListChannels(parsed.lun);
  std::vector<services::Channel> all;
  for (const std::string& lun : recordings_.luns().Ids()) {
    auto channels = recordings_.ListChannels(lun);
    if (absl::IsNotFound(channels.status())) continue;  // it has just been deleted
    TD_RETURN_IF_ERROR(channels.status());
    std::ranges::move(*channels, std::back_inserter(all));
  }
  return all;
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
  const auto no_opening = opening::TakeNoOpening(recordings_, parsed.lun_name());
  if (no_opening == nullptr) return services::ChannelInUse(name, kLunIsOpened);
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(parsed.lun));
  const absl::MutexLock lock(lun->changing.get());
  TD_ASSIGN_OR_RETURN(const auto left,
                      lun->store->ListRecordings(
                          {.channels = {parsed.channel}, .recordings = {}, .is_part = true}));
  for (const store::RecordingPath& path : left) {
    if (path.channel != parsed.channel) continue;
    return services::ChannelInUse(
        name, absl::StrCat("holds recording ", path.recording,
                           ", which no list shows; the log of the storage node says why"));
  }
  TD_RETURN_IF_ERROR(lun->channels->Remove(*lun, parsed.channel));
  dataplane::Log(dataplane::LogLevel::kInfo, "channel_catalog", "channel deleted",
                 {{"channel", name}, {"why", "asked for"}});
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::node
