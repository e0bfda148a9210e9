// A storage node and those that may go on for it, as one.
#pragma once

#include <memory>
#include <vector>

#include "services/session/protocol/storage.h"

namespace tapedeck::services::storage_client {

// Channels are asked of `first`; recordings and annotations of the node that a session was opened
// to last. None of them is null.
std::unique_ptr<StorageClient> WithStandbys(std::unique_ptr<StorageClient> first,
                                            std::vector<std::unique_ptr<StorageClient>> standbys);

}  // namespace tapedeck::services::storage_client
