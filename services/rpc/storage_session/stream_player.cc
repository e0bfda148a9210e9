#include "services/rpc/storage_session/stream_player.h"

#include <algorithm>
#include <utility>

#include "dataplane/status_macros.h"
#include "services/rpc/storage_session/joined_player.h"

namespace tapedeck::services::storage_session {

using dataplane::Block;

absl::StatusOr<std::unique_ptr<StreamPlayer>> StreamPlayer::Begin(const Peer& peer, Stream stream,
                                                                  StreamLayout layout,
                                                                  uint64_t first_block) {
  TD_ASSIGN_OR_RETURN(const uint64_t block_samples, JoinedPlayer::BlockSamples(layout.whole));
  auto player = std::unique_ptr<StreamPlayer>(
      new StreamPlayer(peer, std::move(stream), std::move(layout), block_samples));
  TD_RETURN_IF_ERROR(player->Seek(first_block));
  return player;
}

// Which samples lack before a block, the last one that is there says.
absl::Status StreamPlayer::Seek(uint64_t block) {
  next_ = block;
  while (next_ > 0 && PieceOfNext() == nullptr) --next_;
  while (next_ < block) {
    TD_ASSIGN_OR_RETURN(const std::optional<Block> before, Next());
    if (!before.has_value()) break;
  }
  first_ = block;
  next_ = block;
  return absl::OkStatus();
}

const StreamPiece* StreamPlayer::PieceOfNext() const {
  const auto found = std::ranges::find_if(layout_.pieces, [this](const StreamPiece& piece) {
    return piece.first <= next_ && next_ < piece.end();
  });
  return found == layout_.pieces.end() ? nullptr : &*found;
}

absl::Status StreamPlayer::BeginRun(const StreamPiece& piece) {
  const Recording& begin = stream_.segments[piece.segment];
  model::Playhead playhead{.start = static_cast<int64_t>(next_ - piece.first),
                           .stream = stream_.segmented};
  run_end_ = piece.end();
  for (const StreamPiece& one : layout_.pieces) {
    if (one.first != run_end_ || one.blocks == 0) continue;
    run_end_ = one.end();
    playhead.follow =
        playhead.follow || stream_.segments[one.segment].state == RecordingState::kRecording;
  }
  // The node leaves out the end that a salvaged segment lacks: before a gap each is played by
  // itself.
  if (run_end_ != layout_.whole.blocks) {
    run_end_ = piece.end();
    playhead.stream = false;
  }
  TD_ASSIGN_OR_RETURN(player_, Player::BeginAt(peer_, begin, playhead));
  return absl::OkStatus();
}

Block StreamPlayer::Gone() {
  Block missing = Block::Missing({.sequence = next_ - first_,
                                  .sample_index = sample_index_,
                                  .capture_ns = dataplane::kTimeUnknown,
                                  .flags = dataplane::kBlockMissing});
  sample_index_ += block_samples_;
  ++next_;
  return missing;
}

absl::StatusOr<std::optional<Block>> StreamPlayer::Next() {
  if (next_ >= layout_.whole.blocks) return std::nullopt;
  if (player_ == nullptr || next_ >= run_end_) {
    player_.reset();
    const StreamPiece* const piece = PieceOfNext();
    if (piece == nullptr) return Gone();
    TD_RETURN_IF_ERROR(BeginRun(*piece));
  }
  TD_ASSIGN_OR_RETURN(std::optional<Block> block, player_->Next());
  if (!block.has_value()) return block;
  block->header().sequence = next_ - first_;
  sample_index_ = block->header().sample_index + block_samples_;
  ++next_;
  return block;
}

}  // namespace tapedeck::services::storage_session
