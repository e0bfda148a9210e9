// The stores of this build: the one place that knows them all.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::store {

std::vector<StoreKind> StoreKinds();

// "posix, direct": the names of those that `has` is true of.
std::string StoreKindNames(absl::FunctionRef<bool(const StoreKind&)> has);

// INVALID_ARGUMENT (ARGUMENT_INVALID) names the kinds there are.
absl::StatusOr<StoreKind> FindStoreKind(absl::string_view name);

// Adds the options of all kinds: see StoreKind::add_options.
void AddOptions(const services::command_line::Command& node);

// What can be asked of `member`, of whichever kind. NOT_FOUND (MEMBER_UNUSABLE): nothing lies
// there, or nothing that a kind could use. Waits for the disk.
absl::StatusOr<const MemberKind*> FindMemberKind(const std::string& member);

}  // namespace tapedeck::storage_node::store
