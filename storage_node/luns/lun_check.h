// What a LUN must be before it is made or attached: INVALID_ARGUMENT (ARGUMENT_INVALID) names the
// field, unless another reason is given.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/catalog.h"
#include "storage_node/luns/luns.h"

namespace tapedeck::storage_node::luns {

absl::Status InvalidLunField(absl::string_view field, absl::string_view why);

// Members as absolute paths, each once.
absl::Status NormalizeMembers(services::Lun* lun);

// FAILED_PRECONDITION (MEMBER_UNUSABLE): two LUNs of which one's member lies in the other's would
// find each other's files there.
absl::Status CheckApartFromAll(const services::Lun& lun, const Luns& luns);

absl::Status CheckLunShape(const services::Lun& lun, const store::StoreKindInfo& kind);

// What is written into lun.json must be what is read from it.
absl::Status CheckLunDescription(const services::Lun& lun);

// A share of the capacity means something only if there is one: `limit`, 0 for none.
absl::Status CheckLunPolicies(const services::Lun& lun, uint64_t limit);

}  // namespace tapedeck::storage_node::luns
