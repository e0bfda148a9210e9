#include "storage_node/opening/reconcile.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/recording/recovery.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {
namespace {

constexpr char kCutOff[] =
    "ABORTED: the storage node stopped while recording, or the LUN went away";

// Reads a recording that the catalog does not know, or knows as unfinished.
absl::Status Adopt(recordings::Recordings& recordings, const catalog::ResourceName& name,
                   luns::OpenLun& lun) {
  const store::RecordingPath path{.channel = name.channel, .recording = name.recording};
  auto manifest = recording::LoadManifest(*lun.store, path, recordings.luns().clock());
  if (absl::IsNotFound(manifest.status())) {
    // Nothing of it was acknowledged as written.
    TD_RETURN_IF_ERROR(lun.store->DeleteRecording(path));
    recordings::LogDeleted(name, "the node stopped as it was being made or deleted");
    return recordings.catalog()->DeleteRecording(name);
  }
  if (manifest.ok()) {
    const absl::Status whose = recording::CheckWhose(*manifest, path, *lun.config.now());
    if (!whose.ok()) manifest = whose;
  }
  if (!manifest.ok()) {
    dataplane::Log(
        dataplane::LogLevel::kError, "reconcile", "recording left out",
        {{"recording", name.ToString()}, {"error", std::string(manifest.status().message())}});
    return absl::OkStatus();
  }
  catalog::RecordingRow row{.name = name, .manifest = *std::move(manifest)};
  TD_RETURN_IF_ERROR(recordings.catalog()->PutRecording(name, row.manifest));
  lun.capacity->Add(lun.TakenBy(row.manifest));  // 0 while unfinished: salvaging adds it
  // One that cannot be read now is tried again by whoever looks at it; the others are served.
  if (absl::Status status = recordings.CloseAbandoned(lun, &row, kCutOff); !status.ok()) {
    dataplane::Log(dataplane::LogLevel::kError, "reconcile", "recording not recovered",
                   {{"recording", name.ToString()}, {"error", std::string(status.message())}});
  }
  return absl::OkStatus();
}

absl::Status ReconcileRecordings(recordings::Recordings& recordings, const std::string& lun_id,
                                 luns::OpenLun& lun, const OpeningProgress& progress) {
  TD_ASSIGN_OR_RETURN(const auto rows,
                      recordings.catalog()->ListRecordings({.lun = lun_id, .channel = "-"}));
  store::Known known{.channels = lun.channels->Ids()};
  std::set<std::string> sealed;
  for (const catalog::RecordingRow& row : rows) {
    known.recordings.insert(recordings::PathOf(row.name, row.manifest));
    if (row.manifest.state == services::RecordingState::kRecording) continue;
    sealed.insert(row.name.ToString());
  }
  TD_RETURN_IF_ERROR(lun.store->FinishDeletions(known));
  std::set<std::string> stored;
  TD_ASSIGN_OR_RETURN(const auto paths, lun.store->ListRecordings(known));
  for (const store::RecordingPath& path : paths) {
    const catalog::ResourceName name{
        .lun = lun_id, .channel = path.channel, .recording = path.recording};
    if (progress) progress(stored.size(), paths.size());
    stored.insert(name.ToString());
    if (!sealed.contains(name.ToString())) TD_RETURN_IF_ERROR(Adopt(recordings, name, lun));
  }
  for (const catalog::RecordingRow& row : rows) {
    const std::string name = row.name.ToString();
    if (!stored.contains(name)) {
      TD_RETURN_IF_ERROR(recordings.catalog()->DeleteRecording(row.name));
    } else if (sealed.contains(name)) {
      lun.capacity->Add(lun.TakenBy(row.manifest));
    }
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
  lun->store->Prewrite(config);
  lun->capacity = luns::CapacityOf(config, *lun->store);
  lun->kind = std::move(kind);
  TD_RETURN_IF_ERROR(lun->channels->Load(*lun));
  TD_RETURN_IF_ERROR(ReconcileRecordings(recordings, name.lun, *lun, progress));
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

absl::Status ForgetLuns(recordings::Recordings& recordings) {
  TD_ASSIGN_OR_RETURN(const auto rows,
                      recordings.catalog()->ListRecordings({.lun = "-", .channel = "-"}));
  for (const catalog::RecordingRow& row : rows) {
    if (!recordings.luns().Has(row.name.lun))
      TD_RETURN_IF_ERROR(recordings.catalog()->DeleteRecording(row.name));
  }
  TD_ASSIGN_OR_RETURN(const auto channels, recordings.catalog()->ListChannels("-"));
  for (const services::Channel& channel : channels) {
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
    if (!recordings.luns().Has(name.lun))
      TD_RETURN_IF_ERROR(recordings.catalog()->DeleteChannel(name));
  }
  return absl::OkStatus();
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
  return ForgetLuns(recordings);
}

}  // namespace tapedeck::storage_node::opening
