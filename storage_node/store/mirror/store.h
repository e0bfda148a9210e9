// A LUN of two members as one store, of which each has all: recordings, and what the LUN is. It
// goes on with one of them.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/kind.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::mirror {

// The contract of StoreKind (store/kind.h); members have a BehindMark. A Create that fails leaves
// no member behind. Open needs one member that is whole: FAILED_PRECONDITION (MEMBER_UNUSABLE)
// where each is behind the other, or the one that is there is behind.
absl::StatusOr<std::unique_ptr<Store>> Create(const MemberStore& kind, const services::Lun& lun);
absl::StatusOr<std::unique_ptr<Store>> Open(const MemberStore& kind, const services::Lun& lun);
absl::Status Remove(const MemberStore& kind, const services::Lun& lun);

}  // namespace tapedeck::storage_node::store::mirror
