// A LUN of several members as one store: block i lies on member i mod n (format::PlaceOf), each
// member a store of its own with its own threads. The index has two copies where there are two
// members, the manifest as many. A recording has those members that the LUN had when it was made.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/kind.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::stripe {

// The contract of StoreKind (store/kind.h), over all of the LUN's members. A Create that fails
// leaves no member behind.
absl::StatusOr<std::unique_ptr<Store>> Create(const MemberStore& kind, const services::Lun& lun);
absl::StatusOr<std::unique_ptr<Store>> Open(const MemberStore& kind, const services::Lun& lun);
absl::Status Remove(const MemberStore& kind, const services::Lun& lun);

}  // namespace tapedeck::storage_node::store::stripe
