// Packets as datagrams, many with one call of the kernel.
#pragma once

#include "gpu_worker/stages/ingest/feed.h"

namespace tapedeck::gpu_worker::stages::ingest::udp {

// UNAVAILABLE says why nothing can be received there, and what to do.
absl::StatusOr<OpenedFeed> Open(const FeedSettings& settings);

}  // namespace tapedeck::gpu_worker::stages::ingest::udp
