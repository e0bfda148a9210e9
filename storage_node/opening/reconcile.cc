#include "storage_node/opening/reconcile.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/opening/adopt.h"
#include "storage_node/recording/recovery/examine.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {
namespace {

void LogGone(const std::string& name) {
  dataplane::LogEach(dataplane::LogLevel::kError, "reconcile",
                     "recording gone: its members hold nothing of it, so no list shows it",
                     {{"recording", name}});
}

// What an order had begun when the node stopped. Returns the names of what is deleted now.
absl::StatusOr<std::set<std::string>> FinishDeletions(recordings::Recordings& recordings,
                                                      const std::string& lun_id, luns::OpenLun& lun,
                                                      const store::Known& known) {
  std::set<std::string> names;
  store::Recovery& recovery = *lun.store->extras().recovery;
  TD_RETURN_IF_ERROR(recovery.FinishDeletions(known));
  TD_ASSIGN_OR_RETURN(const auto begun, recovery.BegunDeletions(known));
  for (const store::RecordingPath& path : begun) {
    const catalog::ResourceName name{
        .lun = lun_id, .channel = path.channel, .recording = path.recording};
    TD_RETURN_IF_ERROR(
        DeleteInterrupted(recordings, lun, path, name, "the node stopped during its deletion"));
    names.insert(name.ToString());
  }
  return names;
}

absl::Status ReconcileRecordings(recordings::Recordings& recordings, const std::string& lun_id,
                                 luns::OpenLun& lun, const OpeningProgress& progress) {
  TD_ASSIGN_OR_RETURN(const auto rows,
                      recordings.catalog()->ListRecordings({.lun = lun_id, .channel = "-"}));
  store::Known known{.channels = lun.channels->Ids()};
  std::set<std::string> sealed;
  std::map<std::string, const format::Manifest*> unfinished;
  for (const catalog::RecordingRow& row : rows) {
    known.recordings.insert(recordings::PathOf(row.name, row.manifest));
    if (row.manifest.state == services::RecordingState::kRecording) {
      unfinished[row.name.ToString()] = &row.manifest;
    } else {
      sealed.insert(row.name.ToString());
    }
  }
  TD_ASSIGN_OR_RETURN(const auto deleted, FinishDeletions(recordings, lun_id, lun, known));
  std::set<std::string> stored;
  TD_ASSIGN_OR_RETURN(const auto paths, lun.store->ListRecordings(known));
  for (const store::RecordingPath& path : paths) {
    const catalog::ResourceName name{
        .lun = lun_id, .channel = path.channel, .recording = path.recording};
    if (progress) progress(stored.size(), paths.size());
    stored.insert(name.ToString());
    if (sealed.contains(name.ToString())) continue;
    const auto row = unfinished.find(name.ToString());
    TD_RETURN_IF_ERROR(
        Adopt(recordings, name, row == unfinished.end() ? nullptr : row->second, lun));
  }
  for (const catalog::RecordingRow& row : rows) {
    const std::string name = row.name.ToString();
    if (!stored.contains(name)) {
      if (!deleted.contains(name)) LogGone(name);
      recordings.catalog()->DeleteRecording(row.name);
    } else if (sealed.contains(name)) {
      lun.capacity->Settle(name, lun.TakenBy(row.manifest), recording::Capacity::Known::kByRow);
    }
  }
  return absl::OkStatus();
}

absl::Status RemoveStrangers(recordings::Recordings& recordings) {
  TD_ASSIGN_OR_RETURN(const auto rows,
                      recordings.catalog()->ListRecordings({.lun = "-", .channel = "-"}));
  for (const catalog::RecordingRow& row : rows) {
    if (!recordings.luns().Has(row.name.lun)) recordings.catalog()->DeleteRecording(row.name);
  }
  TD_ASSIGN_OR_RETURN(const auto channels, recordings.catalog()->ListChannels("-"));
  for (const services::Channel& channel : channels) {
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
    if (!recordings.luns().Has(name.lun)) recordings.catalog()->DeleteChannel(name);
  }
  return absl::OkStatus();
}

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
  return absl::NotFoundError("no recording of the channel describes it");
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
  dataplane::Log(
      dataplane::LogLevel::kWarning, "reconcile", "channel restored: its file was lost",
      {{"channel", name.channel_name()},
       {"from", has_row ? "the catalog" : "a manifest, without segments, triggers and policies"}});
  return absl::OkStatus();
}

// Makes each channel again whose file was lost and whose recordings are there: as the catalog had
// it, or else by the manifest of one of its recordings, without what that does not know (segments,
// triggers, policies). One that cannot be made is named in the log, with its recordings left as
// they are.
absl::Status MakeLostChannels(recordings::Recordings& recordings, const std::string& lun_id,
                              luns::OpenLun& lun) {
  TD_ASSIGN_OR_RETURN(const auto lost, lun.store->extras().recovery->UnknownChannels(
                                           {.channels = lun.channels->Ids()}));
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

}  // namespace

absl::Status OpenLunAndReconcile(recordings::Recordings& recordings, const services::Lun& config,
                                 const OpeningProgress& progress) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(config.name));
  TD_ASSIGN_OR_RETURN(store::StoreKind kind, store::FindStoreKind(config.store));
  TD_RETURN_IF_ERROR(recordings.luns().member_roots().Check(config));
  auto lun = std::make_shared<luns::OpenLun>(
      luns::OpenLun{.config = config,
                    .channel_root = luns::ChannelRoot(recordings.luns().state_dir(), config),
                    .channels = std::make_unique<luns::Channels>(recordings.catalog())});
  TD_ASSIGN_OR_RETURN(lun->store, kind.open(config));
  luns::TakeHealth(*lun);
  lun->store->extras().member_files->Prewrite(config);
  lun->capacity = luns::CapacityOf(config, *lun->store);
  lun->kind = std::move(kind);
  TD_RETURN_IF_ERROR(lun->channels->Load(*lun));
  TD_RETURN_IF_ERROR(MakeLostChannels(recordings, name.lun, *lun));
  TD_RETURN_IF_ERROR(ReconcileRecordings(recordings, name.lun, *lun, progress));
  lun->space->Set(luns::SpaceOf(config));
  recordings.luns().Insert(name.lun, lun);
  return absl::OkStatus();
}

OpeningLease TakeOpening(recordings::Recordings& recordings, const std::string& name) {
  return {.alone = recordings.leases().TakeExclusive("opening/" + name),
          .beside = recordings.leases().TakeShared(name)};
}

std::unique_ptr<recordings::Leases::Lease> TakeNoOpening(recordings::Recordings& recordings,
                                                         const std::string& name) {
  return recordings.leases().TakeShared("opening/" + name);
}

void ForgetLuns(recordings::Recordings& recordings) {
  const absl::Status status = RemoveStrangers(recordings);
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kError, "reconcile",
                 "rows of LUNs that are gone are still in the catalog",
                 {{"error", std::string(status.message())}});
}

absl::Status OpenLunsAndReconcile(recordings::Recordings& recordings,
                                  const std::vector<services::Lun>& luns) {
  for (const services::Lun& config : luns) {
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(config.name));
    if (recordings.luns().IsStandby(config)) {
      recordings.luns().SetOffline(
          name.lun, {.config = config,
                     .cause = absl::UnavailableError("it is not known yet whether another storage "
                                                     "node has it")});
      continue;
    }
    const absl::Status status = OpenLunAndReconcile(recordings, config);
    if (status.ok()) continue;
    dataplane::Log(dataplane::LogLevel::kError, "reconcile", "LUN offline",
                   {{"lun", config.name}, {"error", std::string(status.message())}});
    recordings.luns().SetOffline(name.lun, {.config = config, .cause = status});
  }
  ForgetLuns(recordings);
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::opening
