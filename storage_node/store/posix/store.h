// A directory per member, payload through the page cache, one transfer at a time: works on every
// file system.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::posix {

// The contract of MemberStore (store/stripe/store.h).
absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun, uint32_t member);
absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun, uint32_t member);

}  // namespace tapedeck::storage_node::store::posix
