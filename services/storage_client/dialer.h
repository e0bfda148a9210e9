// StorageClient and StorageDialer over gRPC: how a GPU worker reaches storage nodes.
#pragma once

#include <memory>

#include "services/storage.h"

namespace tapedeck::services::storage_client {

// Its clients may outlive it, and outlive their streams. Each client has a connection of its own,
// which is its session's lease.
std::unique_ptr<StorageDialer> MakeStorageDialer();

}  // namespace tapedeck::services::storage_client
