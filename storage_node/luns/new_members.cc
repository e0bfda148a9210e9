#include "storage_node/luns/new_members.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/model/words/invalid.h"
#include "storage_node/catalog/names.h"
#include "storage_node/disk/errors.h"
#include "storage_node/luns/config_files.h"

namespace tapedeck::storage_node::luns {
namespace {

// Whether member `number` was made by such a change before.
absl::StatusOr<bool> IsMade(const OpenLun& lun, const services::Lun& config, uint32_t number) {
  const std::string& path = config.members[number];
  const auto said = lun.kind.member->described_by(path);
  // What else is in the way, making it says.
  if (!said.ok() || said->lun.uid != config.uid) return false;
  if (said->member == number) return true;
  const std::string which = absl::StrCat("member ", said->member, " of ", config.name);
  if (said->member < lun.config->members.size()) {
    return disk::Unusable(path, absl::StrCat("it is ", which, ", or a copy of that"));
  }
  return disk::Unusable(
      path, absl::StrCat("an interrupted change added it as ", which, ", not as member ", number,
                         "; repeat that change with its members in the same order"));
}

absl::Status TooSmall(const services::Lun& config, uint64_t limit, uint64_t used) {
  return services::model::Invalid(
      "capacity_bytes", absl::StrCat(config.name, " uses ", used, " bytes, more than ", limit,
                                     "; delete recordings first, or give a larger capacity"));
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

absl::StatusOr<std::unique_ptr<NewMembers>> NewMembers::Make(const OpenLun& lun,
                                                             const services::Lun& config) {
  std::unique_ptr<NewMembers> added(new NewMembers(lun.kind.one, config));
  for (size_t number = lun.config->members.size(); number < config.members.size(); ++number) {
    TD_RETURN_IF_ERROR(added->Add(lun, static_cast<uint32_t>(number)));
  }
  return added;
}

absl::Status NewMembers::Add(const OpenLun& lun, uint32_t number) {
  TD_ASSIGN_OR_RETURN(const bool is_made, IsMade(lun, config_, number));
  TD_ASSIGN_OR_RETURN(auto store,
                      is_made ? one_.open(config_, number) : one_.create(config_, number));
  if (!is_made) made_.push_back(number);
  members_.push_back({.name = config_.members[number], .store = std::move(store)});
  return absl::OkStatus();
}

NewMembers::~NewMembers() {
  members_.clear();  // closes what is removed
  for (const uint32_t number : made_) {
    const absl::Status status = one_.remove(config_, number);
    if (status.ok()) continue;
    dataplane::Log(dataplane::LogLevel::kWarning, "new_members", "member not released",
                   {{"lun", config_.name},
                    {"path", config_.members[number]},
                    {"error", std::string(status.message())}});
  }
}

uint64_t NewMembers::SizeWith(const OpenLun& lun) const {
  const store::Extras extras = lun.store->extras();
  return extras.member_list == nullptr ? extras.size_bytes : extras.member_list->SizeWith(members_);
}

void NewMembers::Join(const OpenLun& lun) {
  Leave();
  if (!members_.empty()) lun.store->extras().member_list->Add(std::exchange(members_, {}));
}

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
