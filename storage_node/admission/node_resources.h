// What the node has for sessions.
#pragma once

#include <memory>
#include <vector>

#include "dataplane/transport/transport.h"
#include "storage_node/capture/live_triggers.h"
#include "storage_node/follow/tail_memory.h"
#include "storage_node/luns/luns.h"
#include "storage_node/recording/reading/check_threads.h"
#include "storage_node/recording/writing/write_verifier.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::admission {

// A session's ring: as many slots as fit in `ring_bytes` and can be registered on all rails, at
// most `ring_slots`, but never fewer than 8. With 256 slots of 64 KiB four links have 64 of them
// out each; with fewer, small blocks wait for one another. More would only make more memory
// resident before a session begins.
struct RingSettings {
  size_t ring_slots = 256;
  uint64_t ring_bytes = 64 << 20;
  std::vector<dataplane::Transport*> rails;  // outlive the node
};

// Any thread. Outlives the sessions.
struct NodeResources {
  luns::Luns& luns;
  recordings::Recordings& recordings;
  capture::LiveTriggers& triggers;
  const RingSettings rings;
  const std::shared_ptr<recording::WriteVerifier> verifier;  // set
  const std::shared_ptr<follow::TailMemory> follow_memory;   // null: followers read the stores
  const std::shared_ptr<recording::CheckThreads> checks;     // null: sessions' threads check
};

}  // namespace tapedeck::storage_node::admission
