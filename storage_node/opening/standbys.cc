#include "storage_node/opening/standbys.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/luns/config_files.h"
#include "storage_node/opening/attach.h"
#include "storage_node/opening/reconcile.h"
#include "storage_node/store/list.h"

namespace tapedeck::storage_node::opening {

// Used by one look at a time.
struct Standbys::Standby {
  std::vector<std::string> members;
  std::string said;  // in the log, last
};

namespace {

std::string NameOf(const std::string& member) {
  const auto kind = store::FindMemberKind(member);
  if (!kind.ok()) return member;
  const auto name = (*kind)->check(member);
  return name.ok() ? name->name : member;
}

bool HasOneOf(const services::Lun& lun, const std::vector<std::string>& members) {
  return std::ranges::any_of(
      members, [&](const auto& each) { return std::ranges::count(lun.members, each) > 0; });
}

bool IsOpen(const luns::Luns& luns, const std::vector<std::string>& members) {
  return std::ranges::any_of(
      luns.All(), [&](const auto& lun) { return HasOneOf(*lun.second->config.now(), members); });
}

// As this node knows it, with its id; none: it does not.
std::optional<std::pair<std::string, luns::OfflineLun>> FindOffline(
    const luns::Luns& luns, const std::vector<std::string>& members) {
  for (const auto& [id, lun] : luns.Offline()) {
    if (HasOneOf(lun.config, members)) return {{id, lun}};
  }
  return std::nullopt;
}

absl::StatusOr<std::string> HolderOf(const std::vector<std::string>& members) {
  for (const std::string& member : members) {
    TD_ASSIGN_OR_RETURN(const store::MemberKind* const kind, store::FindMemberKind(member));
    if (kind->held_by == nullptr) continue;
    TD_ASSIGN_OR_RETURN(std::string holder, kind->held_by(member));
    if (!holder.empty()) return absl::StrCat(member, " is in use by ", holder);
  }
  return "";
}

// What was on these members before, and was deleted by the node that had it.
absl::Status ForgetOther(recordings::Recordings& recordings, const services::Lun& lun) {
  const auto other = FindOffline(recordings.luns(), lun.members);
  if (!other.has_value() || other->second.config.uid == lun.uid) return absl::OkStatus();
  recordings.luns().Erase(other->first);
  return luns::ForgetLunFile(recordings.luns().state_dir(), other->first);
}

// The name is free here, or this LUN's: what the catalog has under it is this LUN's, too.
absl::Status CheckName(recordings::Recordings& recordings, const std::string& id,
                       const services::Lun& lun) {
  const auto offline = recordings.luns().Offline();
  const auto known = offline.find(id);
  const bool same = known != offline.end() && known->second.config.uid == lun.uid;
  if (same || !recordings.luns().Has(id)) return absl::OkStatus();
  return disk::LunExists(
      id, absl::StrCat(lun.name, " is the name of another LUN here; this one (", lun.uid,
                       ") cannot be taken over until one of them has another name"));
}

// It stays listed as it was last known. With the lease nobody opens it meanwhile.
absl::Status List(recordings::Recordings& recordings, const services::Lun& lun,
                  const absl::Status& cause, bool standby) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(lun.name));
  const OpeningLease lease = TakeOpening(recordings, lun.name);
  if (!lease || IsOpen(recordings.luns(), lun.members)) return absl::OkStatus();
  TD_RETURN_IF_ERROR(ForgetOther(recordings, lun));
  TD_RETURN_IF_ERROR(CheckName(recordings, name.lun, lun));
  recordings.luns().SetOffline(name.lun, {.config = lun, .cause = cause, .standby = standby});
  return absl::OkStatus();
}

// What the catalog says of the LUN may be older than what another node has written since.
absl::Status ForgetRows(recordings::Recordings& recordings, const services::Lun& lun) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(lun.name));
  const OpeningLease lease = TakeOpening(recordings, lun.name);
  if (!lease || IsOpen(recordings.luns(), lun.members)) {
    return disk::LunExists(name.lun, absl::StrCat(lun.name, " is in use by a request"));
  }
  TD_RETURN_IF_ERROR(ForgetOther(recordings, lun));
  TD_RETURN_IF_ERROR(CheckName(recordings, name.lun, lun));
  catalog::Catalog& catalog = *recordings.catalog();
  TD_ASSIGN_OR_RETURN(const auto rows, catalog.ListRecordings({.lun = name.lun, .channel = "-"}));
  for (const catalog::RecordingRow& row : rows) {
    catalog.DeleteRecording(row.name);
  }
  TD_ASSIGN_OR_RETURN(const auto channels, catalog.ListChannels(name.lun));
  for (const services::Channel& channel : channels) {
    TD_ASSIGN_OR_RETURN(const catalog::ResourceName each, catalog::ParseChannelName(channel.name));
    catalog.DeleteChannel(each);
  }
  return absl::OkStatus();
}

// Why nobody may take it, for lists; OK: it is free.
absl::Status ListHeld(recordings::Recordings& recordings, const services::Lun& lun) {
  TD_ASSIGN_OR_RETURN(const std::string holder, HolderOf(lun.members));
  if (holder.empty()) return absl::OkStatus();
  const absl::Status cause = disk::MemberUnusable(
      lun.members.front(),
      absl::StrCat("on standby: ", holder, "; this node takes it over once that one is gone"));
  TD_RETURN_IF_ERROR(List(recordings, lun, cause, /*standby=*/true));
  return cause;
}

// With all its members, where nobody has it. The turn ends before a LUN is attached, which
// waits for all of them.
absl::StatusOr<services::Lun> Prepare(
    recordings::Recordings& recordings, const std::vector<std::string>& members,
    const std::optional<std::pair<std::string, luns::OfflineLun>>& known) {
  const auto turn = recordings.luns().turns().ForTrying();
  if (turn == nullptr) return absl::UnavailableError("another LUN is being attached");
  auto lun = DescribedLun(members);
  if (!lun.ok()) {
    if (known.has_value()) {
      TD_RETURN_IF_ERROR(List(recordings, known->second.config, lun.status(), /*standby=*/false));
    }
    return lun.status();
  }
  TD_RETURN_IF_ERROR(ListHeld(recordings, *lun));
  TD_RETURN_IF_ERROR(ForgetRows(recordings, *lun));
  return lun;
}

absl::Status TakeOver(recordings::Recordings& recordings, const services::Lun& lun) {
  TD_RETURN_IF_ERROR(AttachLun(recordings, {.members = lun.members}).status());
  const auto offline = FindOffline(recordings.luns(), lun.members);
  return offline.has_value() ? offline->second.cause : absl::OkStatus();
}

}  // namespace

Standbys::Standbys(recordings::Recordings& recordings, const MembersOfLuns& luns)
    : recordings_(recordings) {
  for (const auto& members : luns) {
    standbys_.push_back(std::make_shared<Standby>(Standby{.members = members}));
  }
}

void Standbys::LookAt(recordings::Recordings& recordings, Standby& standby) {
  luns::Luns& luns = recordings.luns();
  std::vector<std::string> members;  // a disk may have come since the last look
  for (const std::string& member : standby.members) members.push_back(NameOf(member));
  if (IsOpen(luns, members)) return standby.said.clear();
  const auto known = FindOffline(luns, members);
  // While it is being closed its members are locked by this node itself.
  if (known.has_value() && luns.Closing().contains(known->first)) return;
  const auto lun = Prepare(recordings, members, known);
  const absl::Status status = lun.ok() ? TakeOver(recordings, *lun) : lun.status();
  const std::string said(status.message());
  if (std::exchange(standby.said, said) == said) return;
  dataplane::Log(dataplane::LogLevel::kInfo, "standby",
                 status.ok() ? "LUN taken over" : "LUN on standby",
                 {{"members", absl::StrJoin(members, ", ")}, {"why", said}});
}

void Standbys::Look() {
  for (const auto& standby : standbys_) {
    const auto queue = recordings_.luns().upkeep().Of(
        absl::StrCat("standby for ", absl::StrJoin(standby->members, ",")));
    if (queue->waiting() > 0) continue;
    queue->Run([&recordings = recordings_, standby] { LookAt(recordings, *standby); });
  }
}

std::set<std::string> NamesOf(const MembersOfLuns& luns) {
  std::set<std::string> names;
  for (const auto& members : luns) {
    for (const std::string& member : members) names.insert({member, NameOf(member)});
  }
  return names;
}

}  // namespace tapedeck::storage_node::opening
