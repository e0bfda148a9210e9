// Packets one behind the other in the bytes of one connection. Nothing is lost by the network: a
// sender that is too fast waits.
#pragma once

#include "gpu_worker/stages/ingest/feed.h"

namespace tapedeck::gpu_worker::stages::ingest::tcp {

// Takes one connection; others are refused from then on. UNAVAILABLE says why it cannot listen
// there, and what to do.
absl::StatusOr<OpenedFeed> Open(const FeedSettings& settings);

}  // namespace tapedeck::gpu_worker::stages::ingest::tcp
