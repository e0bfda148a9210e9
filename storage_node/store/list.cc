#include "storage_node/store/list.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/errors.h"
#include "storage_node/store/memory/store.h"
#include "storage_node/store/posix/store.h"

namespace tapedeck::storage_node::store {

std::vector<StoreKindInfo> StoreKinds() {
  return {{.kind = services::StoreKind::kPosix,
           .name = "posix",
           .has_members = true,
           .create = posix::Create,
           .open = posix::Open,
           .remove = posix::Remove},
          {.kind = services::StoreKind::kMemory,
           .name = "memory",
           .needs_capacity = true,
           .create = memory::Create,
           .open = memory::Create,
           .remove = [](const services::Lun&) { return absl::OkStatus(); }}};
}

absl::StatusOr<StoreKindInfo> FindStoreKind(services::StoreKind kind) {
  std::vector<std::string> names;
  for (StoreKindInfo& info : StoreKinds()) {
    if (info.kind == kind) return std::move(info);
    names.push_back(info.name);
  }
  return services::WithReason(absl::InvalidArgumentError(absl::StrCat(
                                  "store kind ", static_cast<int>(kind), " is not built in; use ",
                                  absl::StrJoin(names, ", "))),
                              "ARGUMENT_INVALID", {{"field", "store"}});
}

}  // namespace tapedeck::storage_node::store
