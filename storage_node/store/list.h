// The stores of this build: the one place that knows them all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/catalog.h"
#include "storage_node/format/config.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store {

struct StoreKindInfo {
  services::StoreKind kind;
  std::string name;
  bool has_members = false;      // its LUNs lie on members that the user names
  bool has_directories = false;  // which are directories
  bool needs_capacity = false;   // capacity_bytes must be given
  // Makes an empty LUN, opens one, or removes what Create has made (recordings must be gone).
  std::function<absl::StatusOr<std::unique_ptr<Store>>(const services::Lun&)> create;
  std::function<absl::StatusOr<std::unique_ptr<Store>>(const services::Lun&)> open;
  std::function<absl::Status(const services::Lun&)> remove;
  // Writes the LUN's description onto the member of that number, which is open nowhere.
  std::function<absl::Status(const services::Lun&, uint32_t)> describe;
};

std::vector<StoreKindInfo> StoreKinds();

// What the directory or device at `path` says it is a member of. NOT_FOUND or FAILED_PRECONDITION
// (MEMBER_UNUSABLE): of nothing, or another process has it. Waits for the disk.
absl::StatusOr<format::LunMember> MemberAt(const std::string& path);

// INVALID_ARGUMENT names the kinds there are.
absl::StatusOr<StoreKindInfo> FindStoreKind(services::StoreKind kind);

}  // namespace tapedeck::storage_node::store
