#include "storage_node/store/mirror/store.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "storage_node/store/mirror/mirrored_store.h"

namespace tapedeck::storage_node::store::mirror {
namespace {

absl::StatusOr<std::unique_ptr<Store>> Make(const MemberStore& kind, const services::Lun& lun,
                                            Pair::Members members) {
  TD_ASSIGN_OR_RETURN(auto pair, Pair::Create(lun.recorded_uid(), std::move(members)));
  return std::make_unique<MirroredStore>(kind, lun, std::move(pair));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Create(const MemberStore& kind, const services::Lun& lun) {
  Pair::Members members;
  for (uint32_t m = 0; m < kCopies; ++m) {
    auto member = kind.create(lun, m);
    if (!member.ok()) {
      members = {};
      for (uint32_t made = 0; made < m; ++made) TD_RETURN_IF_ERROR(kind.remove(lun, made));
      return std::move(member).status();
    }
    members[m] = {.name = lun.members[m], .store = *std::move(member)};
  }
  return Make(kind, lun, std::move(members));
}

absl::StatusOr<std::unique_ptr<Store>> Open(const MemberStore& kind, const services::Lun& lun) {
  Pair::Members members;
  for (uint32_t m = 0; m < kCopies; ++m) {
    members[m].name = lun.members[m];
    auto member = kind.open(lun, m);
    if (!member.ok()) {
      members[m].missing = member.status();
      continue;
    }
    members[m].store = *std::move(member);
    TD_ASSIGN_OR_RETURN(members[m].says, SaysOf(lun, members[m].name, *members[m].store));
  }
  return Make(kind, lun, std::move(members));
}

absl::Status Remove(const MemberStore& kind, const services::Lun& lun) {
  for (uint32_t m = 0; m < lun.members.size(); ++m) TD_RETURN_IF_ERROR(kind.remove(lun, m));
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::mirror
