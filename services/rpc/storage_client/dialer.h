// StorageClient and StorageDialer over gRPC: how a GPU worker reaches storage nodes.
#pragma once

#include <memory>

#include "services/rpc/client/calls/channel.h"
#include "services/session/protocol/storage.h"

namespace tapedeck::services::storage_client {

// Its clients may outlive it, and outlive their streams. Each client has a connection of its own,
// which is its session's lease. The nodes see the certificate of `credentials`.
std::unique_ptr<StorageDialer> MakeStorageDialer(const client::Credentials& credentials = {});

}  // namespace tapedeck::services::storage_client
