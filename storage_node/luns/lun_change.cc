#include "storage_node/luns/lun_change.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/invalid.h"
#include "storage_node/catalog/names.h"
#include "storage_node/luns/config_files.h"

namespace tapedeck::storage_node::luns {
namespace {

absl::Status TooSmall(const services::Lun& config, uint64_t limit, uint64_t used) {
  return services::model::Invalid(
      "capacity_bytes", absl::StrCat(config.name, " uses ", used, " bytes, more than ", limit,
                                     "; delete recordings first, or leave it larger"));
}

// What is given out while the disks are waited for must fit both limits; in a ring what is too much
// then goes by itself.
absl::Status CheckRoom(const services::Lun& config, recording::Capacity& capacity, uint64_t after) {
  const uint64_t before = capacity.limit();
  if (after == 0 || (before != 0 && before <= after)) return absl::OkStatus();
  const bool stop = config.full_policy == services::FullPolicy::kStop;
  const bool fits = stop ? capacity.Narrow(after) : capacity.used() <= after;
  return fits ? absl::OkStatus() : TooSmall(config, after, capacity.used());
}

absl::Status Write(Luns& luns, OpenLun& lun, const services::Lun& config,
                   const store::ListedMembers& more) {
  TD_RETURN_IF_ERROR(WriteLunOnNewMembers(lun, config, more));
  const absl::Status status = WriteLunFile(luns.state_dir(), config);
  // An error may come when it has happened.
  if (!status.ok() && !LunFileSays(luns.state_dir(), config)) return status;
  return WriteLunOnMembers(lun, config);
}

absl::Status WriteAgain(Luns& luns, OpenLun& lun, const services::Lun& before) {
  TD_RETURN_IF_ERROR(WriteLunOnMembers(lun, before));
  // A file that could not be replaced, as where its disk is full, needs no second try.
  if (LunFileSays(luns.state_dir(), before)) return absl::OkStatus();
  return WriteLunFile(luns.state_dir(), before);
}

}  // namespace

absl::Status ReplaceConfig(Luns& luns, OpenLun& lun, const services::Lun& wanted,
                           NewMembers& added) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseLunName(wanted.name));
  const uint64_t before = lun.capacity->limit();
  const uint64_t after = LimitOf(wanted, added.SizeWith(lun));
  TD_RETURN_IF_ERROR(CheckRoom(wanted, *lun.capacity, after));
  absl::MutexLock lock(lun.describing.get());
  services::Lun config = wanted;
  config.revision = lun.config.now()->revision + 1;
  const absl::Status status = Write(luns, lun, config, added.members());
  if (!status.ok()) {
    lun.capacity->SetLimit(before);
    // If it fails the next start does it, with whichever of the two the state directory has.
    if (!WriteAgain(luns, lun, *lun.config.now()).ok()) added.Leave();
    return status;
  }
  added.Join(lun);
  lun.store->extras().member_files->Prewrite(config);
  luns.SetConfig(name.lun, lun, config);
  lun.capacity->SetLimit(after);
  return status;
}

}  // namespace tapedeck::storage_node::luns
