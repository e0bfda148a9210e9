// Blocks of a recording, one by one and in order, for a program that may wait for them: a playback
// session of its own. Used by one thread.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "services/model/playhead.h"
#include "services/model/recording/recording.h"
#include "services/rpc/storage_session/block_queue.h"
#include "services/rpc/storage_session/session_run.h"

namespace tapedeck::services::storage_session {

class Player {
 public:
  // From that block on; of a recording that is still written those that there are to come, too. The
  // errors of SessionRun::Begin, and those of the node.
  static absl::StatusOr<std::unique_ptr<Player>> Begin(const Peer& peer, const Recording& recording,
                                                       uint64_t first_block);
  // The same from there, and as the playhead says.
  static absl::StatusOr<std::unique_ptr<Player>> BeginAt(const Peer& peer,
                                                         const Recording& recording,
                                                         model::Playhead playhead);
  // The same from the block that has that sample.
  static absl::StatusOr<std::unique_ptr<Player>> BeginAtSample(const Peer& peer,
                                                               const Recording& recording,
                                                               uint64_t sample);
  ~Player();

  // The next block; none behind the last. One that is missing or damaged has kBlockMissing. Its
  // payload has been checked, and may be read until it is destroyed. DEADLINE_EXCEEDED
  // (SESSION_STALLED): it has not come in 30 s; what the session has failed with.
  absl::StatusOr<std::optional<dataplane::Block>> Next();

 private:
  explicit Player(std::shared_ptr<BlockQueue> queue) : queue_(std::move(queue)) {}

  const std::shared_ptr<BlockQueue> queue_;  // shared with the session's sink
  std::unique_ptr<SessionRun> run_;
};

}  // namespace tapedeck::services::storage_session
