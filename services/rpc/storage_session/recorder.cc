#include "services/rpc/storage_session/recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/block/source.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/session/protocol/check.h"

namespace tapedeck::services::storage_session {

using dataplane::Block;
using dataplane::Flow;

namespace {

// For a slot: the node's disks may be slow, not for ever.
constexpr absl::Duration kSlotPatience = absl::Seconds(30);
// For the last blocks and the seal: the node itself gives up after two minutes without any.
constexpr absl::Duration kSealPatience = absl::Minutes(10);

// On the session's executor.
class QueueSource final : public dataplane::Source {
 public:
  explicit QueueSource(std::shared_ptr<BlockQueue> queue) : queue_(std::move(queue)) {}

  absl::StatusOr<Flow> Pull(Block* block) override {
    if (queue_->dropped()) return PeerLost("", "its blocks stopped coming");
    const bool closed = queue_->closed();
    if (std::optional<Block> next = queue_->Take()) {
      *block = *std::move(next);
      return Flow::kMoved;
    }
    return closed ? Flow::kEnd : Flow::kNotNow;
  }
  void SetWaker(dataplane::Waker waker) override { queue_->SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t /*watermark*/) override {}
  absl::Status Reject(const dataplane::BlockHeader& header) override {
    return BlockDamaged({.blocks = 1}, absl::StrCat("block ", header.sequence,
                                                    " was damaged and has no other copy"));
  }

 private:
  const std::shared_ptr<BlockQueue> queue_;
};

// Of a recording that goes on: what is there of it was given before.
session::TransferEnd EndOf(const std::shared_ptr<BlockQueue>& queue,
                           const std::shared_ptr<dataplane::MemoryPool>& ring,
                           const Recorder::Options& options, const session::Accept& accept) {
  session::TransferEnd end{.source = std::make_unique<QueueSource>(queue), .ring = ring};
  if (!options.resume.has_value()) return end;
  end.moved = {.blocks = accept.next_block, .missing = accept.missing_blocks};
  end.given = std::max(options.blocks, accept.next_block);
  return end;
}

}  // namespace

// Whether it is worth while to ask for a slot again. Any thread.
class Recorder::SlotGate {
 public:
  void Open() {
    absl::MutexLock lock(&mutex_);
    open_ = true;
  }
  // Waits until it is open, and shuts it.
  bool Pass(absl::Duration patience) {
    absl::MutexLock lock(&mutex_);
    if (!dataplane::AwaitFor(mutex_, absl::Condition(&open_), patience)) return false;
    open_ = false;
    return true;
  }

 private:
  absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<std::unique_ptr<Recorder>> Recorder::Begin(const Peer& peer, const Channel& channel,
                                                          const Options& options) {
  TD_RETURN_IF_ERROR(session::CheckChannel(absl::StrCat("storage node ", peer.address), channel));
  TD_ASSIGN_OR_RETURN(const auto ring, MakeRing(channel.block_bytes));
  const auto queue = std::make_shared<BlockQueue>();
  const auto gate = std::make_shared<SlotGate>();
  ring->SetWaker([gate] { gate->Open(); });
  auto recorder = std::unique_ptr<Recorder>(new Recorder(queue, gate, ring));
  TD_ASSIGN_OR_RETURN(
      recorder->run_,
      SessionRun::Begin(peer, {.open = {.direction = session::Direction::kRecord,
                                        .channel = channel.name,
                                        .expected_blocks = options.blocks,
                                        .labels = options.labels,
                                        .origin = options.origin,
                                        .group = options.group,
                                        .part = options.part,
                                        .resume = options.resume,
                                        .original = options.original},
                               .ring = ring,
                               .make_end =
                                   [queue, ring, options](const session::Accept& accept) {
                                     return EndOf(queue, ring, options, accept);
                                   },
                               .on_ended = [gate] { gate->Open(); }}));
  return recorder;
}

Recorder::~Recorder() {
  ring_->SetWaker(nullptr);
  queue_->Close();
}

absl::StatusOr<Block> Recorder::Slot() {
  while (true) {
    if (run_->ended()) {
      TD_RETURN_IF_ERROR(run_->End(kSlotPatience));
      return PeerLost("", "the session has ended before all blocks were given");
    }
    if (std::optional<Block> slot = ring_->Take()) return *std::move(slot);
    if (gate_->Pass(kSlotPatience)) continue;
    return Stalled("the storage node has taken no block for 30 s");
  }
}

void Recorder::Give(Block block) {
  block.header().crc32c = dataplane::Crc32c(block.payload());
  GiveChecked(std::move(block));
}

void Recorder::GiveChecked(Block block) { queue_->Put(std::move(block)); }

void Recorder::Abandon() { queue_->Drop(); }

absl::Status Recorder::Finish() {
  queue_->Close();
  return run_->End(kSealPatience);
}

}  // namespace tapedeck::services::storage_session
