// Blocks of a stream in segments as those of one recording, for a program that may wait for them.
// Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "services/model/recording/stream.h"
#include "services/rpc/storage_session/peer.h"
#include "services/rpc/storage_session/player.h"

namespace tapedeck::services::storage_session {

class StreamPlayer {
 public:
  // From that block of `layout.whole` on, with LayOut(stream). The errors of Player.
  static absl::StatusOr<std::unique_ptr<StreamPlayer>> Begin(const Peer& peer, Stream stream,
                                                             StreamLayout layout,
                                                             uint64_t first_block);

  // As Player has it, numbered from the first block on. Blocks of a segment that was gone are
  // missing. DATA_LOSS (RECORDING_NOT_FOUND): a segment went since.
  absl::StatusOr<std::optional<dataplane::Block>> Next();

 private:
  StreamPlayer(Peer peer, Stream stream, StreamLayout layout, uint64_t block_samples)
      : peer_(std::move(peer)),
        stream_(std::move(stream)),
        layout_(std::move(layout)),
        block_samples_(block_samples) {}

  // Goes to a block that is there.
  absl::Status Seek(uint64_t block);
  // Null: no segment has the next block.
  const StreamPiece* PieceOfNext() const;
  absl::Status BeginRun(const StreamPiece& piece);
  dataplane::Block Gone();

  const Peer peer_;
  const Stream stream_;
  const StreamLayout layout_;
  const uint64_t block_samples_;
  uint64_t first_ = 0;         // block that was asked for
  uint64_t next_ = 0;          // block
  uint64_t sample_index_ = 0;  // of the next block, if none lacks before it
  std::unique_ptr<Player> player_;
  uint64_t run_end_ = 0;  // block behind the last that the player gives
};

}  // namespace tapedeck::services::storage_session
