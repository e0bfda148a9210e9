#include "storage_node/opening/lost_channels.h"

#include <optional>

#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/recording/recovery/examine.h"

namespace tapedeck::storage_node::opening {
namespace {

absl::StatusOr<services::Channel> ByItsRecordings(recordings::Recordings& recordings,
                                                  luns::OpenLun& lun, const std::string& id) {
  TD_ASSIGN_OR_RETURN(const auto paths, lun.store->ListRecordings(
                                            {.channels = {id}, .recordings = {}, .is_part = true}));
  for (const store::RecordingPath& path : paths) {
    if (path.channel != id) continue;
    const auto examined = recording::Examine(*lun.store, path, nullptr, recordings.luns().clock());
    if (!examined.ok() || !examined->manifest.has_value()) continue;
    const format::Manifest& manifest = *examined->manifest;
    return services::Channel{.block_bytes = manifest.block_bytes,
                             .datatype = manifest.datatype,
                             .sample_rate = manifest.sample_rate,
                             .commit = manifest.commit};
  }
  return absl::NotFoundError("none of its recordings says what it was");
}

absl::Status MakeLost(recordings::Recordings& recordings, const catalog::ResourceName& name,
                      luns::OpenLun& lun) {
  std::optional<services::Channel> channel = lun.channels->LastKnown(name.channel);
  const bool has_row = channel.has_value();
  if (!has_row) {
    TD_ASSIGN_OR_RETURN(channel, ByItsRecordings(recordings, lun, name.channel));
    channel->name = name.channel_name();
  }
  TD_RETURN_IF_ERROR(lun.channels->Put(lun, *channel));
  dataplane::Log(dataplane::LogLevel::kWarning, "reconcile",
                 "channel made again: its file was lost",
                 {{"channel", name.channel_name()},
                  {"from", has_row ? "the catalog"
                                   : "a manifest, which knows no segments, triggers or policies"}});
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeLostChannels(recordings::Recordings& recordings, const std::string& lun_id,
                              luns::OpenLun& lun) {
  TD_ASSIGN_OR_RETURN(const auto lost,
                      lun.store->UnknownChannels({.channels = lun.channels->Ids()}));
  for (const std::string& id : lost) {
    const catalog::ResourceName name{.lun = lun_id, .channel = id};
    const absl::Status made = MakeLost(recordings, name, lun);
    if (made.ok()) continue;
    dataplane::Log(dataplane::LogLevel::kError, "reconcile",
                   "channel left out, with its recordings: its file was lost",
                   {{"channel", name.channel_name()}, {"error", std::string(made.message())}});
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::opening
