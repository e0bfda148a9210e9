#include "storage_node/node/lun_catalog.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/catalog/once.h"
#include "storage_node/disk/errors.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/luns/lun_check.h"
#include "storage_node/opening/attach.h"
#include "storage_node/opening/reconcile.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::node {
namespace {

// Well within the time that a client waits for an answer.
constexpr absl::Duration kCloseLimit = absl::Seconds(5);

void LogLun(absl::string_view event, const std::string& name, const std::string& why) {
  dataplane::Log(dataplane::LogLevel::kInfo, "lun_catalog", event, {{"lun", name}, {"why", why}});
}

// Whoever has begun to look at it has it a moment longer; then its members may be unmounted.
absl::Status AwaitGone(const std::string& name, const absl::Notification& gone) {
  if (dataplane::AwaitFor(gone, kCloseLimit)) return absl::OkStatus();
  return services::LunNotResponding(
      name, absl::StrCat(name,
                         " is detached, but its disks still work on requests; leave them as they "
                         "are until they are done or the storage node has ended"));
}

absl::Status InUse(const std::string& name) {
  return disk::LunNotEmpty(name, 0,
                           absl::StrCat(name,
                                        " is in use by a session, a move or another request; end "
                                        "that first (a move: by clearing its channel's move_to)"));
}

// A recording that was left out of the catalog has no row, and is there all the same.
absl::Status CheckEmpty(const std::string& name, const luns::OpenLun& lun) {
  store::Known known{.channels = lun.channels->Ids(), .recordings = {}, .is_part = true};
  TD_ASSIGN_OR_RETURN(const auto unknown, lun.store->extras().recovery->UnknownChannels(known));
  known.channels.insert(unknown.begin(), unknown.end());
  TD_ASSIGN_OR_RETURN(const auto left, lun.store->ListRecordings(known));
  if (left.empty()) return absl::OkStatus();
  return disk::LunNotEmpty(
      lun.config->name, left.size(),
      absl::StrCat(name, " holds ", left.size(), " recordings that cannot be read, ",
                   left[0].channel, "/", left[0].recording,
                   " among them; the log says why. --force deletes the LUN anyway"));
}

}  // namespace

absl::StatusOr<services::Lun> LunService::CreateLun(const services::Lun& lun,
                                                    const std::string& request_id) {
  return catalog::Once<services::Lun>(
      *recordings_.catalog(), request_id, "LUN", lun.name, [&] { return GetLun(lun.name); },
      [&] { return Create(lun); });
}

absl::StatusOr<services::Lun> LunService::Create(services::Lun lun) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(lun.name));
  TD_ASSIGN_OR_RETURN(store::StoreKind kind, store::FindStoreKind(lun.store));
  TD_RETURN_IF_ERROR(luns::CheckLunShape(lun, kind));
  TD_RETURN_IF_ERROR(
      luns::CheckMembers(&lun, recordings_.luns().member_roots(),
                         [&](const std::string& member) { return kind.member->check(member); }));
  const auto lease = recordings_.leases().TakeExclusive(lun.name);
  if (lease == nullptr || recordings_.luns().Has(name.lun)) {
    return disk::LunExists(name.lun, absl::StrCat(lun.name, " exists; choose another name"));
  }
  TD_RETURN_IF_ERROR(luns::CheckApartFromAll(lun, recordings_.luns()));
  lun.uid = format::Uuid::Make(recordings_.luns().random()).ToString();
  lun.create_time_ns = recordings_.luns().clock().WallNs();
  TD_RETURN_IF_ERROR(luns::CheckLunDescription(lun));
  auto open = std::make_shared<luns::OpenLun>(
      luns::OpenLun{.config = lun,
                    .channel_root = luns::ChannelRoot(recordings_.luns().state_dir(), lun),
                    .channels = std::make_unique<luns::Channels>(recordings_.catalog())});
  TD_ASSIGN_OR_RETURN(open->store, kind.create(lun));
  luns::TakeHealth(*open);
  open->capacity = luns::CapacityOf(lun, *open->store);
  if (absl::Status status = luns::CheckLunPolicies(lun, open->capacity->limit()); !status.ok()) {
    open->store = nullptr;
    kind.remove(lun).IgnoreError();  // what is left on its members says whose it was
    return status;
  }
  open->kind = std::move(kind);
  if (absl::Status status = luns::WriteLunFile(recordings_.luns().state_dir(), lun); !status.ok()) {
    open->store = nullptr;
    // The error may have come after the file: without members it would be OFFLINE at each start.
    luns::ForgetLunFile(recordings_.luns().state_dir(), name.lun).IgnoreError();
    // The LUN is not there yet for anybody: whatever is left on the members says whose it was.
    open->kind.remove(lun).IgnoreError();
    return status;
  }
  open->space->Set(luns::SpaceOf(lun));
  recordings_.luns().Insert(name.lun, open);
  return Present(name.lun, *open);
}

// From memory: what has happened is told whatever the state directory does.
uint64_t LunService::CountOf(const std::string& id) const {
  const auto counts = recordings_.catalog()->Counts();
  const auto it = counts.find(id);
  return it == counts.end() ? 0 : it->second;
}

services::Lun LunService::Present(const std::string& id, const luns::OpenLun& lun) {
  services::Lun out = *lun.config.now();
  out.capacity_bytes = lun.capacity->limit();
  out.used_bytes = lun.capacity->used();
  out.cause = luns::Shortage(out.capacity_bytes, lun.space->now());
  if (const absl::Status lacking = lun.lacking(); !lacking.ok()) {
    out.state = services::LunState::kDegraded;
    out.cause = absl::StrCat(lacking.message(), out.cause.empty() ? "" : "; ", out.cause);
  }
  out.recordings = CountOf(id);
  return out;
}

services::Lun LunService::PresentOffline(const std::string& id, const luns::OfflineLun& lun) {
  services::Lun out = lun.config;
  out.state = lun.standby ? services::LunState::kStandby : services::LunState::kOffline;
  out.cause = std::string(lun.cause.message());
  out.recordings = CountOf(id);
  return out;
}

absl::StatusOr<services::Lun> LunService::GetLun(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed, catalog::ParseLunName(name));
  const auto offline = recordings_.luns().Offline();
  if (const auto it = offline.find(parsed.lun); it != offline.end()) {
    return PresentOffline(parsed.lun, it->second);
  }
  TD_ASSIGN_OR_RETURN(const auto lun, recordings_.luns().Find(parsed.lun));
  return Present(parsed.lun, *lun);
}

absl::StatusOr<std::vector<services::Lun>> LunService::ListLuns() {
  // The offline ones first: one that comes online in between is not left out.
  std::map<std::string, services::Lun> by_id;
  for (const auto& [id, lun] : recordings_.luns().Offline()) {
    by_id[id] = PresentOffline(id, lun);
  }
  for (const auto& [id, lun] : recordings_.luns().All()) {
    by_id[id] = Present(id, *lun);
  }
  std::vector<services::Lun> luns;
  for (auto& [id, lun] : by_id) luns.push_back(std::move(lun));
  return luns;
}

absl::StatusOr<services::Lun> LunService::UpdateLun(const services::LunUpdate& update,
                                                    const std::string& request_id) {
  const auto get = [&] { return GetLun(update.name); };
  return catalog::Once<services::Lun>(*recordings_.catalog(), request_id, "a change of LUN",
                                      update.name, get, [&]() -> absl::StatusOr<services::Lun> {
                                        TD_RETURN_IF_ERROR(node::UpdateLun(recordings_, update));
                                        return get();
                                      });
}

absl::Status LunService::DeleteLun(const std::string& name, bool force) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed, catalog::ParseLunName(name));
  TD_RETURN_IF_ERROR(recordings_.luns().CheckExists(parsed.lun));
  const auto lease = recordings_.leases().TakeExclusive(name);
  if (lease == nullptr) return InUse(name);
  if (force && recordings_.luns().Offline().contains(parsed.lun)) return Forget(parsed.lun);
  TD_ASSIGN_OR_RETURN(auto lun, recordings_.luns().Find(parsed.lun));
  TD_ASSIGN_OR_RETURN(const uint64_t recordings,
                      recordings_.catalog()->CountRecordings({.lun = parsed.lun, .channel = "-"}));
  if (recordings > 0 && !force) {
    return disk::LunNotEmpty(
        parsed.lun, recordings,
        absl::StrCat(name, " holds ", recordings, " recordings; delete them first or use --force"));
  }
  if (!force) TD_RETURN_IF_ERROR(CheckEmpty(name, *lun));
  TD_ASSIGN_OR_RETURN(const auto rows,
                      recordings_.catalog()->ListRecordings({.lun = parsed.lun, .channel = "-"}));
  TD_RETURN_IF_ERROR(recordings_.catalog()->CheckTakes());
  // Without its file the node no longer looks for the LUN: then its members may go.
  TD_RETURN_IF_ERROR(luns::ForgetLunFile(recordings_.luns().state_dir(), parsed.lun));
  if (const absl::Status status = DeleteContents(rows, *lun); !status.ok()) {
    // What is left of it is a LUN still.
    TD_RETURN_IF_ERROR(luns::WriteLunFile(recordings_.luns().state_dir(), *lun->config.now()));
    return status;
  }
  luns::RemoveChannelFolder(recordings_.luns().state_dir(), parsed.lun);
  recordings_.luns().Erase(parsed.lun);
  const auto remove = lun->kind.remove;
  const services::Lun config = *lun->config.now();
  lun = nullptr;  // closes the store, which may hold its members locked
  LogLun("LUN deleted", name, force ? "asked for, with all its recordings" : "asked for");
  return remove(config);
}

absl::StatusOr<services::Lun> LunService::AttachLun(const services::LunAttachment& asked,
                                                    const std::string& request_id) {
  std::string name = asked.name;
  // Of a request that was answered before.
  const auto get = [&] { return GetLun(name); };
  const auto attach = [&]() -> absl::StatusOr<services::Lun> {
    TD_ASSIGN_OR_RETURN(name, opening::AttachLun(recordings_, asked));
    return GetLun(name);
  };
  if (asked.name.empty()) return attach();
  return catalog::Once<services::Lun>(*recordings_.catalog(), request_id, "LUN", asked.name, get,
                                      attach);
}

absl::Status LunService::DetachLun(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName parsed, catalog::ParseLunName(name));
  TD_RETURN_IF_ERROR(recordings_.luns().CheckExists(parsed.lun));
  const auto lease = recordings_.leases().TakeExclusive(name);
  if (lease == nullptr) return InUse(name);
  if (recordings_.luns().Offline().contains(parsed.lun)) return Forget(parsed.lun);
  TD_ASSIGN_OR_RETURN(auto lun, recordings_.luns().Find(parsed.lun));
  if (lun->kind.member == nullptr) {
    return services::ArgumentInvalid(
        "name", absl::StrCat(name, " is a ", lun->kind.name,
                             " LUN: it has no members that could keep its recordings"));
  }
  // What they do not say would be lost.
  TD_RETURN_IF_ERROR(luns::DescribeOnMembers(*lun, lun->channels->All()));
  TD_RETURN_IF_ERROR(luns::ForgetLunFile(recordings_.luns().state_dir(), parsed.lun));
  recordings_.luns().TakeOut(parsed.lun, lun);
  LogLun("LUN detached", name, "asked for; its members are as they were");
  const auto gone = lun->gone.said();
  lun = nullptr;
  // A disk that hangs is waited for there, and here no longer than said.
  recordings_.luns().looks().Of(parsed.lun)->Run([&luns = recordings_.luns(), id = parsed.lun] {
    luns.CloseUnused(id);
  });
  opening::ForgetLuns(recordings_);
  return AwaitGone(name, *gone);
}

absl::Status LunService::Forget(const std::string& id) {
  TD_RETURN_IF_ERROR(luns::ForgetLunFile(recordings_.luns().state_dir(), id));
  recordings_.luns().Erase(id);
  LogLun("LUN forgotten", "luns/" + id,
         "asked for while it was offline; its members are as they were");
  opening::ForgetLuns(recordings_);
  return absl::OkStatus();
}

absl::Status LunService::DeleteContents(const std::vector<catalog::RecordingRow>& rows,
                                        const luns::OpenLun& lun) {
  for (const catalog::RecordingRow& row : rows) {
    TD_RETURN_IF_ERROR(lun.store->DeleteRecording(recordings::PathOf(row.name, row.manifest)));
    recordings::LogDeleted(row.name, "its LUN is being deleted");
    recordings_.catalog()->DeleteRecording(row.name);
    lun.capacity->Forget(row.name.ToString());
  }
  for (const std::string& channel : lun.channels->Ids()) {
    TD_RETURN_IF_ERROR(lun.channels->Remove(lun, channel));
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::node
