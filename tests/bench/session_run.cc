#include "tests/bench/session_run.h"

#include <future>
#include <set>
#include <utility>

#include "dataplane/crc32c.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/status_macros.h"
#include "services/session_stream/stream_opener.h"

namespace tapedeck::bench {
namespace {

using dataplane::Block;
using dataplane::Flow;

// Gives whatever lies in the ring's slots, with a check value computed for every block, as a source
// must.
class PassthroughSource final : public dataplane::Source {
 public:
  PassthroughSource(std::shared_ptr<dataplane::SlotPool> ring, uint64_t blocks)
      : ring_(std::move(ring)), blocks_(blocks) {}
  ~PassthroughSource() override { ring_->SetWaker(nullptr); }

  absl::StatusOr<Flow> Pull(Block* block) override {
    if (next_ == blocks_) return Flow::kEnd;
    std::optional<Block> slot = ring_->Take();
    if (!slot.has_value()) return Flow::kNotNow;
    *block = *std::move(slot);
    block->header() = {.sequence = next_++,
                       .payload_bytes = static_cast<uint32_t>(ring_->slot_bytes())};
    block->header().crc32c = dataplane::Crc32c(block->payload());
    return Flow::kMoved;
  }
  void SetWaker(dataplane::Waker waker) override { ring_->SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t) override {}
  absl::Status Reject(const dataplane::BlockHeader&) override { return absl::OkStatus(); }

 private:
  const std::shared_ptr<dataplane::SlotPool> ring_;
  const uint64_t blocks_;
  uint64_t next_ = 0;
};

// Drops blocks; the session has checked them.
class NullSink final : public dataplane::Sink {
 public:
  explicit NullSink(std::function<void()> on_first) : on_first_(std::move(on_first)) {}

  absl::StatusOr<Flow> Push(Block* block) override {
    if (on_first_) std::exchange(on_first_, nullptr)();
    taken_.insert(block->header().sequence);
    while (taken_.erase(watermark_) > 0) ++watermark_;
    block->Reset();
    return Flow::kMoved;
  }
  absl::StatusOr<Flow> Finish(const absl::Status&) override { return Flow::kEnd; }
  void SetWaker(dataplane::Waker) override {}
  dataplane::Watermarks watermarks() const override { return {watermark_, watermark_, watermark_}; }

 private:
  std::function<void()> on_first_;
  std::set<uint64_t> taken_;
  uint64_t watermark_ = 0;
};

}  // namespace

absl::StatusOr<SessionOutcome> RunSession(const SessionRun& run,
                                          const services::client::Channel& node,
                                          dataplane::RailSet& rails, dataplane::EventLoop& loop) {
  using services::session::Direction;
  SessionOutcome outcome;
  const int64_t start_ns = loop.clock().NowNs();
  services::session::ClientSessionSettings settings{.node = node.address,
                                                    .transports = rails.transports()};
  settings.open.direction = run.direction;
  (run.direction == Direction::kRecord ? settings.open.channel : settings.open.recording) =
      run.target;
  settings.open.recorder = "tapedeck-bench";
  settings.open.slots = run.slots;
  settings.open.slot_bytes = run.block_bytes;
  settings.make_end = [&](const auto&) -> absl::StatusOr<services::session::TransferEnd> {
    TD_ASSIGN_OR_RETURN(auto memory, dataplane::host::Create(run.slots * run.block_bytes));
    TD_ASSIGN_OR_RETURN(auto ring,
                        dataplane::MemoryPool::Create(std::move(memory), run.block_bytes));
    services::session::TransferEnd end{.ring = ring};
    if (run.direction == Direction::kRecord) {
      end.source = std::make_unique<PassthroughSource>(ring, run.blocks);
    } else {
      end.sink = std::make_unique<NullSink>(
          [&] { outcome.open_to_first_block_ns = loop.clock().NowNs() - start_ns; });
    }
    return end;
  };
  std::promise<void> ended;
  settings.on_change = [&](const services::session::Snapshot& snapshot) {
    // Recording: the first acknowledged block that a snapshot shows.
    if (outcome.open_to_first_block_ns == 0 && snapshot.running) {
      outcome.open_to_first_block_ns = snapshot.setup_ns;
    }
    outcome.snapshot = snapshot;
    if (snapshot.ended) ended.set_value();
  };
  services::session_stream::StreamOpener opener;
  std::unique_ptr<services::session::ClientSession> session;
  loop.RunAndWait([&] {
    session = std::make_unique<services::session::ClientSession>(loop, std::move(settings),
                                                                 opener.Open(node));
    session->Start();
  });
  ended.get_future().wait();
  loop.RunAndWait([&] { session.reset(); });
  TD_RETURN_IF_ERROR(outcome.snapshot.error);
  return outcome;
}

}  // namespace tapedeck::bench
