#include "storage_node/node/lun_update.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/model/invalid.h"
#include "storage_node/disk/errors.h"
#include "storage_node/luns/lun_change.h"
#include "storage_node/luns/lun_check.h"
#include "storage_node/node/changes.h"
#include "storage_node/node/channel_check.h"
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
  const uint64_t size = lun.store->size_bytes();
  if (!lun.kind.capabilities.takes_room_at_once || after.capacity_bytes <= size)
    return absl::OkStatus();
  return services::model::Invalid(
      "capacity_bytes",
      absl::StrCat("a ", lun.kind.name, " LUN takes its room when it is made, and ", after.name,
                   " has ", size, " bytes of it; make a larger one"));
}

// What a channel records into may have become a ring, be none any more, or be smaller.
absl::Status CheckChannels(recordings::Recordings& recordings, const std::string& lun_id,
                           const luns::LunTerms& before, const luns::LunTerms& after) {
  const bool policy = before.config.full_policy != after.config.full_policy;
  if (!policy && before.limit == after.limit) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const auto channels, recordings.ListChannels(lun_id));
  for (const services::Channel& channel : channels) {
    const absl::Status status = CheckChannel(channel, after);
    if (status.ok()) continue;
    const char* field = policy ? "full_policy" : "capacity_bytes";
    return services::model::Invalid(
        field, absl::StrCat(channel.name, " would not fit the LUN: ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status Check(recordings::Recordings& recordings, const std::string& lun_id,
                   const services::Lun& after, const luns::OpenLun& lun) {
  TD_RETURN_IF_ERROR(luns::CheckLunShape(after, lun.kind));
  TD_RETURN_IF_ERROR(CheckRoomTaken(after, lun));
  const luns::LunTerms before = lun.terms();
  const luns::LunTerms terms{after, before.layout, luns::LimitOf(after, *lun.store)};
  TD_RETURN_IF_ERROR(luns::CheckLunPolicies(after, terms.limit));
  TD_RETURN_IF_ERROR(luns::CheckLunDescription(after));
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
  const services::Lun after = services::Updated(before, update);
  TD_RETURN_IF_ERROR(Check(recordings, name.lun, after, *lun));
  TD_RETURN_IF_ERROR(luns::ReplaceConfig(recordings.luns(), *lun, after));
  dataplane::Log(dataplane::LogLevel::kInfo, "lun_catalog", "LUN changed",
                 {{"lun", update.name}, {"changes", Changes(before, after)}});
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::node
