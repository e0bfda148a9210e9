// Recordings as files in directories: MEMBER/CHANNEL/RECORDING/{data,index,manifest.json}.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/catalog.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::posix {

// The contract of StoreKindInfo (store/list.h).
absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun);
absl::StatusOr<std::unique_ptr<Store>> Open(const services::Lun& lun);
absl::Status Remove(const services::Lun& lun);

}  // namespace tapedeck::storage_node::store::posix
