// Blocks of a recording that several storage nodes hold in parts, one by one and in the order of
// the stream, for a program that may wait for them. Used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "services/model/recording/recording.h"
#include "services/rpc/storage_session/peer.h"
#include "services/rpc/storage_session/player.h"

namespace tapedeck::services::storage_session {

struct PeerPart {
  Peer peer;
  Recording recording;  // as its node tells of it, closed
};

class JoinedPlayer {
 public:
  // As one recording: reads the ends of all parts to know its last block. What only missing parts
  // have of that, nobody knows. `parts`: at least one, of the same whole. The errors of Player, and
  // INVALID_ARGUMENT (PROTOCOL_VIOLATION) for blocks that no part has.
  static absl::StatusOr<Recording> Whole(const std::vector<PeerPart>& parts);

  // Samples of a full block of the recording.
  static absl::StatusOr<uint64_t> BlockSamples(const Recording& recording);
  // Which block of the stream it is. INVALID_ARGUMENT (PROTOCOL_VIOLATION): no part has such a one.
  static absl::StatusOr<uint64_t> SequenceOf(const dataplane::BlockHeader& header,
                                             uint64_t block_samples, uint64_t block_bytes);

  // From that block of the stream on. `parts` outlive it.
  static absl::StatusOr<std::unique_ptr<JoinedPlayer>> Begin(const std::vector<PeerPart>& parts,
                                                             uint64_t first_block);

  // As Player has it; what no part has is missing.
  absl::StatusOr<std::optional<dataplane::Block>> Next();

 private:
  struct Part {
    std::unique_ptr<Player> player;  // null: it has ended
    std::map<uint64_t, dataplane::Block> waiting;
    uint64_t seen = 0;  // one more than the highest that it gave
  };

  JoinedPlayer(uint64_t next, uint64_t block_bytes, uint64_t block_samples);

  std::optional<dataplane::Block> TakeNext();
  // The one that has come least far and may have the next block; null: none has it any more.
  Part* Behind();
  absl::Status Read(Part& part);

  const uint64_t first_;
  uint64_t next_;
  const uint64_t block_bytes_;
  const uint64_t block_samples_;
  const uint64_t reorder_window_;
  std::vector<Part> parts_;
};

}  // namespace tapedeck::services::storage_session
