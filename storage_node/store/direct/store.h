// A directory per member, payload with O_DIRECT straight between slots and disk, many transfers at
// a time: what NVMe drives want. Index and manifest go through the page cache.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::direct {

// The contract of MemberStore (store/stripe/store.h). FAILED_PRECONDITION (MEMBER_UNUSABLE) where
// the file system has no O_DIRECT or wants more than 4 KiB of alignment.
absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member);
absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member);

}  // namespace tapedeck::storage_node::store::direct
