// Blocks into a channel, one by one and in order, from a program that may wait: a recording session
// of its own. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/block.h"
#include "services/catalog.h"
#include "services/model/description.h"
#include "services/storage_session/block_queue.h"
#include "services/storage_session/session_run.h"

namespace tapedeck::services::storage_session {

class Recorder {
 public:
  struct Wish {
    uint64_t blocks = 0;  // that will come
    model::Labels labels;
  };
  // The errors of SessionRun::Begin, and those of the node.
  static absl::StatusOr<std::unique_ptr<Recorder>> Begin(const Peer& peer, const Channel& channel,
                                                         const Wish& wish);
  // What has been given is kept.
  ~Recorder();

  // The name of the recording.
  std::string recording() const { return run_->accept().recording; }

  // An empty slot for the next block. DEADLINE_EXCEEDED (SESSION_STALLED): none came back in 30 s;
  // what the session has failed with.
  absl::StatusOr<dataplane::Block> Slot();

  // The next block, whose header lacks its CRC32C alone; also one that is missing, in its slot.
  void Give(dataplane::Block block);

  // Waits until all is at the channel's commit level and the recording is closed.
  absl::Status Finish();

 private:
  class SlotGate;

  Recorder(std::shared_ptr<BlockQueue> queue, std::shared_ptr<SlotGate> gate,
           std::shared_ptr<dataplane::MemoryPool> ring)
      : queue_(std::move(queue)), gate_(std::move(gate)), ring_(std::move(ring)) {}

  const std::shared_ptr<BlockQueue> queue_;            // shared with the session's source
  const std::shared_ptr<SlotGate> gate_;               // shared with the ring's waker
  const std::shared_ptr<dataplane::MemoryPool> ring_;  // shared with the session
  std::unique_ptr<SessionRun> run_;
};

}  // namespace tapedeck::services::storage_session
