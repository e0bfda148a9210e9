// What a LUN must be before it is made or attached: INVALID_ARGUMENT (ARGUMENT_INVALID) names the
// field, unless another reason is given.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/seams/catalog.h"
#include "storage_node/luns/luns.h"

namespace tapedeck::storage_node::luns {

// Each as `check` has it (store::MemberKind), and once, where `roots` allow it.
using CheckMember = absl::FunctionRef<absl::StatusOr<store::MemberName>(const std::string&)>;
absl::Status CheckMembers(services::Lun* lun, const MemberRoots& roots, CheckMember check);

// FAILED_PRECONDITION (MEMBER_UNUSABLE): two LUNs of which one's member lies in the other's would
// find each other's files there.
absl::Status CheckApartFromAll(const services::Lun& lun, const Luns& luns);

absl::Status CheckLunShape(const services::Lun& lun, const store::StoreKind& kind);

// What is written into lun.json must be what is read from it.
absl::Status CheckLunDescription(const services::Lun& lun);

// A share of the capacity means something only if there is one: `limit`, 0 for none.
absl::Status CheckLunPolicies(const services::Lun& lun, uint64_t limit);

}  // namespace tapedeck::storage_node::luns
