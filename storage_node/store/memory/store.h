// Recordings in this process's memory: gone with it. Without threads of its own, so that a
// simulation can run it.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::memory {

// The contract of StoreKind (store/kind.h). Reads capacity_bytes.
absl::StatusOr<std::unique_ptr<Store>> Create(const services::Lun& lun);

}  // namespace tapedeck::storage_node::store::memory
