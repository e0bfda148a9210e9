#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/model/words/invalid.h"
#include "storage_node/disk/errors.h"
#include "storage_node/luns/lun_check.h"
#include "storage_node/luns/new_members.h"
#include "storage_node/node/changes.h"
#include "storage_node/node/channel_check.h"
#include "storage_node/node/lun_catalog.h"
#include "storage_node/opening/reconcile.h"

namespace tapedeck::storage_node::node {
namespace {

absl::Status Busy(const std::string& name) {
  return disk::LunNotEmpty(
      name, 0,
      absl::StrCat(name,
                   " is being changed, attached or deleted by another request; try again "
                   "when that has ended"));
}

// Such room is taken when the LUN is made, and as its capacity says when the node starts.
absl::Status CheckRoomTaken(const services::Lun& after, const luns::OpenLun& lun) {
  const uint64_t size = lun.store->extras().size_bytes;
  if (!lun.kind.capabilities.takes_room_at_once || after.capacity_bytes <= size)
    return absl::OkStatus();
  return services::model::Invalid(
      "capacity_bytes",
      absl::StrCat("a ", lun.kind.name, " LUN takes its memory when it is created, and ",
                   after.name, " has ", size, " bytes of it; create a larger one"));
}

// Names as the LUN has them; what lies there is looked at when the members are made.
absl::Status CheckNewMembers(const services::Lun& before, const luns::OpenLun& lun,
                             const luns::Luns& luns, services::Lun* after) {
  if (after->members == before.members) return absl::OkStatus();
  TD_RETURN_IF_ERROR(luns::CheckMembers(after, luns.member_roots(), [&](const std::string& member) {
    return lun.kind.member->check(member);
  }));
  const auto& [old_end, new_end] = std::ranges::mismatch(before.members, after->members);
  if (old_end != before.members.end()) {
    return services::model::Invalid(
        "members", absl::StrCat("must begin with the members of ", before.name, " in their order, ",
                                absl::StrJoin(before.members, " "), "; ", *old_end,
                                " is missing or moved. Recordings are striped over them: members "
                                "cannot be removed or reordered. Name new ones after them"));
  }
  return luns::CheckApartFromAll(*after, luns);
}

// Blocks go round, so the smallest member counts for each of them.
absl::Status CheckSize(const services::Lun& after, const luns::OpenLun& lun,
                       const luns::NewMembers& added) {
  const uint64_t before = lun.store->extras().size_bytes;
  const uint64_t size = added.SizeWith(lun);
  if (size >= before) return absl::OkStatus();
  return services::model::Invalid(
      "members",
      absl::StrCat(after.name, " has ", before, " bytes, and would have ", size,
                   " with a member that is much smaller than the others; use a larger one"));
}

// A ring would take the room beside recordings that lie on its old devices alone for its own, and
// its recordings would end where those are full.
absl::Status CheckRing(recordings::Recordings& recordings, const std::string& lun_id,
                       const services::Lun& after, const luns::OpenLun& lun,
                       const luns::NewMembers& added) {
  const uint64_t before = lun.store->extras().size_bytes;
  const bool larger = luns::LimitOf(after, added.SizeWith(lun)) > before;
  if (before == 0 || !larger || after.full_policy != services::FullPolicy::kRing ||
      added.members().empty()) {
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(const uint64_t there,
                      recordings.catalog()->CountRecordings({.lun = lun_id, .channel = "-"}));
  if (there == 0) return absl::OkStatus();
  return services::model::Invalid(
      "members", absl::StrCat(after.name,
                              " is a ring, and its recordings lie on its old members alone; give "
                              "it a capacity of at most ",
                              before, " bytes, and raise it when they are all deleted"));
}

// What a channel records into may have become a ring, be none any more, or be smaller.
absl::Status CheckChannels(recordings::Recordings& recordings, const std::string& lun_id,
                           const luns::LunTerms& before, const luns::LunTerms& after) {
  const bool policy = before.config.full_policy != after.config.full_policy;
  const bool members = before.members() != after.members();
  if (!policy && !members && before.limit == after.limit) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const auto channels, recordings.ListChannels(lun_id));
  for (const services::Channel& channel : channels) {
    const absl::Status status = CheckChannel(channel, after);
    if (status.ok()) continue;
    const char* field = policy ? "full_policy" : members ? "members" : "capacity_bytes";
    return services::model::Invalid(
        field, absl::StrCat(channel.name, " would not fit the LUN: ", status.message()));
  }
  return absl::OkStatus();
}

// What can be seen before anything is made.
absl::Status Check(const services::Lun& before, const luns::OpenLun& lun, const luns::Luns& luns,
                   services::Lun* after) {
  TD_RETURN_IF_ERROR(luns::CheckLunShape(*after, lun.kind));
  TD_RETURN_IF_ERROR(CheckRoomTaken(*after, lun));
  TD_RETURN_IF_ERROR(CheckNewMembers(before, lun, luns, after));
  return luns::CheckLunDescription(*after);
}

// What depends on how large it is then.
absl::Status CheckTerms(recordings::Recordings& recordings, const std::string& lun_id,
                        const services::Lun& after, const luns::OpenLun& lun,
                        const luns::NewMembers& added) {
  TD_RETURN_IF_ERROR(CheckSize(after, lun, added));
  TD_RETURN_IF_ERROR(CheckRing(recordings, lun_id, after, lun, added));
  const luns::LunTerms before = lun.terms();
  const luns::LunTerms terms{after, before.layout, luns::LimitOf(after, added.SizeWith(lun))};
  TD_RETURN_IF_ERROR(luns::CheckLunPolicies(after, terms.limit));
  return CheckChannels(recordings, lun_id, before, terms);
}

}  // namespace

absl::Status UpdateLun(recordings::Recordings& recordings, const services::LunUpdate& update) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(update.name));
  TD_RETURN_IF_ERROR(recordings.luns().Find(name.lun).status());
  // Nobody opens it meanwhile with what it was before.
  const opening::OpeningLease lease = opening::TakeOpening(recordings, update.name);
  if (!lease) return Busy(update.name);
  TD_ASSIGN_OR_RETURN(const auto lun, recordings.luns().Find(name.lun));
  const absl::MutexLock lock(lun->changing.get());
  const services::Lun before = *lun->config.now();
  services::Lun after = services::Updated(before, update);
  TD_RETURN_IF_ERROR(Check(before, *lun, recordings.luns(), &after));
  TD_ASSIGN_OR_RETURN(const auto added, luns::NewMembers::Make(*lun, after));
  TD_RETURN_IF_ERROR(CheckTerms(recordings, name.lun, after, *lun, *added));
  TD_RETURN_IF_ERROR(luns::ReplaceConfig(recordings.luns(), *lun, after, *added));
  lun->space->Set(luns::SpaceOf(after));
  dataplane::Log(dataplane::LogLevel::kInfo, "lun_catalog", "LUN changed",
                 {{"lun", update.name}, {"changes", Changes(before, after)}});
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::node
