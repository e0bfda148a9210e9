#include "storage_node/node/check.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/seams/catalog.h"
#include "storage_node/catalog/names.h"
#include "storage_node/disk/file_lock.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/recording/recovery/recovery.h"
#include "storage_node/repair/verify.h"
#include "storage_node/store/list.h"

namespace tapedeck::storage_node::node {
namespace {

// One run, on the calling thread.
class StorageCheck {
 public:
  StorageCheck(const std::string& state_dir, const dataplane::Clock& clock,
               const std::function<void(const Finding&)>& report)
      : state_dir_(state_dir), clock_(clock), report_(report) {}

  void CheckLun(const services::Lun& lun);
  const CheckTotals& totals() const { return totals_; }

 private:
  absl::Status CheckRecordings(const services::Lun& lun);
  absl::StatusOr<store::Known> KnownOf(const luns::OpenLun& lun) const;
  void CheckRecording(const services::Lun& lun, store::Store& store,
                      const store::RecordingPath& path, const std::string& name);
  void Damaged(const std::string& where, const std::string& kind, const absl::Status& status) {
    ++totals_.damaged;
    report_({.where = where, .kind = kind, .detail = std::string(status.message())});
  }

  const std::string& state_dir_;
  const dataplane::Clock& clock_;
  const std::function<void(const Finding&)>& report_;
  CheckTotals totals_;
};

void StorageCheck::CheckLun(const services::Lun& lun) {
  ++totals_.luns;
  const absl::Status status = CheckRecordings(lun);
  if (!status.ok()) Damaged(lun.name, "lun", status);
}

// The files alone: each recording has to say itself whose it is.
absl::StatusOr<store::Known> StorageCheck::KnownOf(const luns::OpenLun& lun) const {
  store::Known known;
  TD_ASSIGN_OR_RETURN(const auto channels, luns::ReadChannelFiles(lun, {}));
  for (const services::Channel& channel : channels) {
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseChannelName(channel.name));
    known.channels.insert(name.channel);
  }
  return known;
}

absl::Status StorageCheck::CheckRecordings(const services::Lun& lun) {
  TD_ASSIGN_OR_RETURN(const auto kind, store::FindStoreKind(lun.store));
  if (!kind.capabilities.outlives_process) return absl::OkStatus();
  services::Lun as_it_is = lun;
  as_it_is.prewrite_files = 0;  // nothing is made or removed
  luns::OpenLun open{.config = lun, .channel_root = luns::ChannelRoot(state_dir_, lun)};
  TD_ASSIGN_OR_RETURN(open.store, kind.open(as_it_is));
  store::Store* const store = open.store.get();
  TD_ASSIGN_OR_RETURN(const store::Known known, KnownOf(open));
  TD_ASSIGN_OR_RETURN(const auto paths, store->ListRecordings(known));
  for (const store::RecordingPath& path : paths) {
    CheckRecording(
        lun, *store, path,
        absl::StrCat(lun.name, "/channels/", path.channel, "/recordings/", path.recording));
  }
  return absl::OkStatus();
}

void StorageCheck::CheckRecording(const services::Lun& lun, store::Store& store,
                                  const store::RecordingPath& path, const std::string& name) {
  ++totals_.recordings;
  const auto manifest = recording::LoadManifest(store, path, clock_);
  if (absl::IsNotFound(manifest.status())) {
    return report_(
        {.where = name,
         .kind = "open",
         .detail = "its manifest is missing: the next start reads from its index what it holds"});
  }
  if (!manifest.ok()) return Damaged(name, "manifest", manifest.status());
  if (const absl::Status whose = recording::CheckWhose(*manifest, path, lun); !whose.ok()) {
    return Damaged(name, "manifest", whose);
  }
  if (manifest->state == services::RecordingState::kRecording) {
    return report_({.where = name,
                    .kind = "open",
                    .detail = "not closed: the node salvages it at its next start"});
  }
  store::RecordingPath there = path;
  there.members = manifest->members;
  const absl::Status status = repair::VerifyBlocks(
      store, there, *manifest, clock_, [&](const services::VerifyProgress& progress) {
        for (const services::DamagedBlock& block : progress.damaged) {
          ++(block.kind == services::DamageKind::kMissing ? totals_.missing : totals_.damaged);
          report_({.where = absl::StrCat(name, "/", block.sequence),
                   .kind = std::string(services::model::NameOf(block.kind)),
                   .detail = block.detail});
        }
        return true;
      });
  totals_.blocks += manifest->blocks;
  if (!status.ok()) Damaged(name, "io", status);
}

}  // namespace

absl::StatusOr<CheckTotals> CheckStorage(const std::string& state_dir,
                                         const dataplane::Clock& clock,
                                         const std::function<void(const Finding&)>& report) {
  TD_ASSIGN_OR_RETURN(const auto lock,
                      disk::FileLock::Take(absl::StrCat(state_dir, "/lock"), state_dir));
  TD_ASSIGN_OR_RETURN(const auto luns, luns::ReadLunFiles(state_dir));
  StorageCheck check(state_dir, clock, report);
  for (const services::Lun& lun : luns) check.CheckLun(lun);
  return check.totals();
}

}  // namespace tapedeck::storage_node::node
