#include "services/rpc/storage_session/player.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/block/sink.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/session/protocol/check.h"

namespace tapedeck::services::storage_session {

using dataplane::Block;
using dataplane::Flow;

namespace {

// For a block of a node that is alive: its disks may be slow, not for ever.
constexpr absl::Duration kPatience = absl::Seconds(30);

// For the session to end in order once nobody wants more of it.
constexpr absl::Duration kFarewell = absl::Seconds(2);

// The ring bounds how many blocks wait. On the session's executor.
class QueueSink final : public dataplane::Sink {
 public:
  explicit QueueSink(std::shared_ptr<BlockQueue> queue) : queue_(std::move(queue)) {}

  absl::StatusOr<Flow> Push(Block* block) override {
    if (queue_->dropped()) return Flow::kEnd;
    queue_->Put(std::move(*block));
    return Flow::kMoved;
  }
  absl::StatusOr<Flow> Finish(const absl::Status& cause) override {
    queue_->Close();
    return cause.ok() && !queue_->done() ? Flow::kNotNow : Flow::kEnd;
  }
  void SetWaker(dataplane::Waker waker) override { queue_->SetWaker(std::move(waker)); }
  dataplane::Watermarks watermarks() const override {
    const uint64_t taken = queue_->taken();
    return {taken, taken, taken};
  }

 private:
  const std::shared_ptr<BlockQueue> queue_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Player>> Player::Begin(const Peer& peer, const Recording& recording,
                                                      uint64_t first_block) {
  return BeginAt(peer, recording, {.start = static_cast<int64_t>(first_block)});
}

absl::StatusOr<std::unique_ptr<Player>> Player::BeginAtSample(const Peer& peer,
                                                              const Recording& recording,
                                                              uint64_t sample) {
  return BeginAt(peer, recording,
                 {.unit = model::Playhead::Unit::kSample, .start = static_cast<int64_t>(sample)});
}

absl::StatusOr<std::unique_ptr<Player>> Player::BeginAt(const Peer& peer,
                                                        const Recording& recording,
                                                        model::Playhead playhead) {
  TD_RETURN_IF_ERROR(
      session::CheckRecording(absl::StrCat("storage node ", peer.address), recording));
  TD_ASSIGN_OR_RETURN(const auto ring, MakeRing(recording.block_bytes));
  const auto queue = std::make_shared<BlockQueue>();
  auto player = std::unique_ptr<Player>(new Player(queue));
  playhead.follow = playhead.follow || recording.state == RecordingState::kRecording;
  TD_ASSIGN_OR_RETURN(player->run_,
                      SessionRun::Begin(peer, {.open = {.direction = session::Direction::kPlayback,
                                                        .recording = recording.name,
                                                        .op = dataplane::TransferOp::kWrite,
                                                        .playhead = playhead},
                                               .ring = ring,
                                               .ordered = true,
                                               // Once for each way to the node that is tried.
                                               .make_end =
                                                   [queue, ring](const session::Accept&) {
                                                     queue->Open();
                                                     return session::TransferEnd{
                                                         .sink = std::make_unique<QueueSink>(queue),
                                                         .ring = ring};
                                                   },
                                               .on_ended = [queue] { queue->Close(); }}));
  return player;
}

Player::~Player() {
  queue_->Drop();
  if (run_ != nullptr) (void)run_->End(kFarewell);
}

absl::StatusOr<std::optional<Block>> Player::Next() {
  std::optional<Block> block = queue_->Wait(kPatience);
  if (block.has_value()) return block;
  if (queue_->closed()) {
    block = queue_->Take();  // one may have come just before
    if (block.has_value()) return block;
    TD_RETURN_IF_ERROR(run_->End(kPatience));
    return std::nullopt;
  }
  return Stalled("the next block of the recording has not come in 30 s");
}

}  // namespace tapedeck::services::storage_session
