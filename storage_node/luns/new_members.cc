#include "storage_node/luns/new_members.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"

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
  return disk::Unusable(path, absl::StrCat("it was to become ", which,
                                           " by a change that was cut short, and not member ",
                                           number, "; name it after those it was named after"));
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

}  // namespace tapedeck::storage_node::luns
