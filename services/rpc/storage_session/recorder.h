// Blocks into a channel, one by one and in order, from a program that may wait: a recording session
// of its own. Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "services/model/seams/catalog.h"
#include "services/model/words/description.h"
#include "services/rpc/storage_session/block_queue.h"
#include "services/rpc/storage_session/session_run.h"

namespace tapedeck::services::storage_session {

class Recorder {
 public:
  struct Options {
    uint64_t blocks = 0;  // that will come
    model::Labels labels;
    model::Origin origin;
    std::optional<model::RecordingGroup> group;
    std::optional<model::Part> part;
    std::optional<session::Original> original;  // what they are a copy of
    // Goes on with a recording whose session was lost: all its blocks can be given again.
    std::optional<session::Resume> resume;
  };
  // The errors of SessionRun::Begin, and those of the node.
  static absl::StatusOr<std::unique_ptr<Recorder>> Begin(const Peer& peer, const Channel& channel,
                                                         const Options& options);
  // What has been given is kept.
  ~Recorder();

  // The name of the recording.
  std::string recording() const { return run_->accept().recording; }

  // The first block to give, and the secret with which another session goes on.
  uint64_t next_block() const { return run_->accept().next_block; }
  std::string resume_token() const { return run_->accept().resume_token; }

  // An empty slot for the next block. DEADLINE_EXCEEDED (SESSION_STALLED): none came back in 30 s;
  // what the session has failed with.
  absl::StatusOr<dataplane::Block> Slot();

  // The next block, whose header lacks its CRC32C alone; also one that is missing, in its slot.
  void Give(dataplane::Block block);
  // The same with the CRC32C of its header, which the storage node compares with what arrives.
  void GiveChecked(dataplane::Block block);

  // Ends it as if it had been lost, so that another session may go on with it.
  void Abandon();

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
