#include "storage_node/store/list.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/errors.h"
#include "storage_node/store/device/store.h"
#include "storage_node/store/direct/store.h"
#include "storage_node/store/directory/member.h"
#include "storage_node/store/memory/store.h"
#include "storage_node/store/posix/store.h"
#include "storage_node/store/stripe/store.h"

namespace tapedeck::storage_node::store {
namespace {

// A kind whose LUNs stripe over members.
StoreKindInfo Striped(services::StoreKind kind, bool directories, stripe::MemberStore member) {
  const auto describe = directories ? store::directory::Member::Describe : device::Describe;
  return {.kind = kind,
          .name = std::string(services::StoreName(kind)),
          .has_members = true,
          .has_directories = directories,
          .create = [member](const services::Lun& lun) { return stripe::Create(member, lun); },
          .open = [member](const services::Lun& lun) { return stripe::Open(member, lun); },
          .remove = [member](const services::Lun& lun) { return stripe::Remove(member, lun); },
          .describe = describe};
}

}  // namespace

std::vector<StoreKindInfo> StoreKinds() {
  return {Striped(services::StoreKind::kPosix, /*directories=*/true,
                  {.create = posix::Create,
                   .open = posix::Open,
                   .remove = store::directory::Member::Remove}),
          Striped(services::StoreKind::kDirect, /*directories=*/true,
                  {.create = direct::Create,
                   .open = direct::Open,
                   .remove = store::directory::Member::Remove}),
          Striped(services::StoreKind::kBlock, /*directories=*/false,
                  {.create = device::Create, .open = device::Open, .remove = device::Remove}),
          {.kind = services::StoreKind::kMemory,
           .name = "memory",
           .needs_capacity = true,
           .create = memory::Create,
           .open = memory::Create,
           .remove = [](const services::Lun&) { return absl::OkStatus(); },
           .describe = [](const services::Lun&, uint32_t) { return absl::OkStatus(); }}};
}

absl::StatusOr<format::LunMember> MemberAt(const std::string& path) {
  std::error_code error;
  if (const auto status = std::filesystem::status(path, error); !std::filesystem::exists(status)) {
    return services::WithReason(
        absl::NotFoundError(absl::StrCat("member ", path, ": not there; mount its disk first")),
        "MEMBER_UNUSABLE", {{"member", path}});
  }
  return std::filesystem::is_directory(path, error) ? store::directory::Member::DescribedBy(path)
                                                    : device::DescribedBy(path);
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
