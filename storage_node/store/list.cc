#include "storage_node/store/list.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/disk/errors.h"
#include "storage_node/store/device/store.h"
#include "storage_node/store/direct/store.h"
#include "storage_node/store/directory/member.h"
#include "storage_node/store/kind.h"
#include "storage_node/store/memory/store.h"
#include "storage_node/store/mirror/store.h"
#include "storage_node/store/posix/store.h"
#include "storage_node/store/rados/settings.h"
#include "storage_node/store/rados/store.h"
#include "storage_node/store/stripe/store.h"

namespace tapedeck::storage_node::store {
namespace {

// Of a name that is not known.
constexpr size_t kMaxShown = 63;

Capabilities OnDirectories(bool locks_rings) {
  return {.outlives_process = true,
          .keeps_channel_files = true,
          .prewrites = true,
          .keeps_copies = true,
          .locks_rings = locks_rings};
}

// The state directory is written before the members. One that knows less than a member is older: by
// it the LUN would do without what was recorded on the others, and old policies would be in force.
absl::Status CheckKnowsAll(const MemberKind& kind, const services::Lun& lun) {
  for (const std::string& path : lun.members) {
    const auto said = kind.described_by(path);
    if (!said.ok() || said->lun.uid != lun.uid) continue;  // opening it says why
    const bool longer = said->lun.members.size() > lun.members.size();
    if (!longer && said->lun.revision <= lun.revision) continue;
    const std::string what =
        longer ? absl::StrCat("has ", said->lun.members.size(),
                              " members, and the state directory, which is older, knows ",
                              lun.members.size())
               : absl::StrCat("was changed ", said->lun.revision,
                              " times, and the state directory, which is older, knows ",
                              lun.revision, " changes");
    return disk::Unusable(
        path, absl::StrCat("it says that ", lun.name, " ", what, "; tapectl lun attach --member ",
                           absl::StrJoin(said->lun.members, " --member ")));
  }
  return absl::OkStatus();
}

// A kind whose LUNs stripe over members or keep a copy on each, which `check_names` sees to be such
// as its members are.
StoreKind Striped(StoreKind kind, const MemberStore& store,
                  absl::Status (*check_names)(const services::Lun&) = CheckMemberPaths) {
  using Opened = absl::StatusOr<std::unique_ptr<Store>>;
  kind.create = [store, check_names](const services::Lun& lun) -> Opened {
    TD_RETURN_IF_ERROR(check_names(lun));
    return lun.mirrored() ? mirror::Create(store, lun) : stripe::Create(store, lun);
  };
  kind.open = [store, check_names, member = kind.member](const services::Lun& lun) -> Opened {
    TD_RETURN_IF_ERROR(check_names(lun));
    TD_RETURN_IF_ERROR(CheckKnowsAll(*member, lun));
    return lun.mirrored() ? mirror::Open(store, lun) : stripe::Open(store, lun);
  };
  kind.remove = [store, check_names](const services::Lun& lun) -> absl::Status {
    TD_RETURN_IF_ERROR(check_names(lun));
    return stripe::Remove(store, lun);
  };
  kind.one = store;
  return kind;
}

}  // namespace

std::vector<StoreKind> StoreKinds() {
  return {
      Striped({.name = "posix",
               .description = "files in directories of any file system, through the page cache",
               .member = &directory::kMemberKind,
               .capabilities = OnDirectories(false)},
              {posix::Create, posix::Open, directory::Member::Remove}),
      Striped({.name = "direct",
               .description = "files in directories, payload with O_DIRECT and io_uring: for NVMe",
               .member = &directory::kMemberKind,
               .capabilities = OnDirectories(true)},
              {direct::Create, direct::Open, directory::Member::Remove}),
      Striped({.name = "device",
               .description = "whole block devices, partitions or disk images, without a file "
                              "system: with O_DIRECT and io_uring",
               .member = &device::kMemberKind,
               .capabilities = {.outlives_process = true, .locks_rings = true}},
              {device::Create, device::Open, device::Remove}),
      Striped({.name = "rados",
               .description = "objects of a pool of a Ceph cluster: rados:POOL/NAMESPACE",
               .member = &rados::kMemberKind,
               .capabilities = {.outlives_process = true},
               .add_options = rados::AddOptions},
              {rados::Create, rados::Open, rados::Remove}, rados::CheckMemberNames),
      {.name = "memory",
       .description = "memory of the storage node: gone with its process",
       .capabilities = {.takes_room_at_once = true, .lends_blocks = true},
       .create = memory::Create,
       .open = memory::Create,
       .remove = [](const services::Lun&) { return absl::OkStatus(); }}};
}

std::string StoreKindNames(absl::FunctionRef<bool(const StoreKind&)> has) {
  std::vector<std::string> names;
  for (StoreKind& kind : StoreKinds()) {
    if (has(kind)) names.push_back(std::move(kind.name));
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<StoreKind> FindStoreKind(absl::string_view name) {
  for (StoreKind& kind : StoreKinds()) {
    if (kind.name == name) return std::move(kind);
  }
  return services::ArgumentInvalid(
      "store", absl::StrCat("no store '", absl::CHexEscape(name.substr(0, kMaxShown)),
                            "' in this build, only ",
                            StoreKindNames([](const StoreKind&) { return true; })));
}

void AddOptions(const services::command_line::Command& node) {
  for (const StoreKind& kind : StoreKinds()) {
    if (kind.add_options != nullptr) kind.add_options(node);
  }
}

absl::StatusOr<const MemberKind*> FindMemberKind(const std::string& member) {
  for (const StoreKind& kind : StoreKinds()) {
    if (kind.member != nullptr && kind.member->is(member)) return kind.member;
  }
  return disk::Unusable(member, "missing, or not a directory or device; mount its disk first",
                        absl::StatusCode::kNotFound);
}

}  // namespace tapedeck::storage_node::store
