#include "tests/bench/ends.h"

#include <unordered_map>
#include <utility>

#include "dataplane/block/sequence_mark.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/status_macros.h"

namespace tapedeck::bench {
namespace {

using dataplane::Block;
using dataplane::Flow;

class PassthroughSource final : public dataplane::Source {
 public:
  PassthroughSource(std::shared_ptr<dataplane::SlotPool> ring, const Passthrough& what)
      : ring_(std::move(ring)), what_(what) {}
  ~PassthroughSource() override { ring_->SetWaker(nullptr); }

  absl::StatusOr<Flow> Pull(Block* block) override {
    if (next_ == what_.blocks) return what_.endless ? Flow::kNotNow : Flow::kEnd;
    std::optional<Block> slot = ring_->Take();
    if (!slot.has_value()) return Flow::kNotNow;
    *block = *std::move(slot);
    block->header() = {.sequence = next_++,
                       .payload_bytes = static_cast<uint32_t>(ring_->slot_bytes())};
    if (what_.on_block) what_.on_block();
    block->header().crc32c = CrcOf(*block);
    return Flow::kMoved;
  }
  void SetWaker(dataplane::Waker waker) override { ring_->SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t) override {}
  absl::Status Reject(const dataplane::BlockHeader&) override { return absl::OkStatus(); }

 private:
  uint32_t CrcOf(const Block& block) {
    if (what_.crc == Checks::kNone) return 0;
    if (what_.crc == Checks::kEach) return dataplane::Crc32c(block.payload());
    const auto [crc, made] = crcs_.try_emplace(block.slot());
    if (made) crc->second = dataplane::Crc32c(block.payload());
    return crc->second;
  }

  const std::shared_ptr<dataplane::SlotPool> ring_;
  const Passthrough what_;
  std::unordered_map<uint32_t, uint32_t> crcs_;  // by slot
  uint64_t next_ = 0;
};

class NullSink final : public dataplane::Sink {
 public:
  explicit NullSink(std::function<void()> on_block) : on_block_(std::move(on_block)) {}

  absl::StatusOr<Flow> Push(Block* block) override {
    if (on_block_) on_block_();
    taken_.Add(block->header().sequence);
    block->Reset();
    return Flow::kMoved;
  }
  absl::StatusOr<Flow> Finish(const absl::Status&) override { return Flow::kEnd; }
  void SetWaker(dataplane::Waker) override {}
  dataplane::Watermarks watermarks() const override {
    return {taken_.mark(), taken_.mark(), taken_.mark()};
  }

 private:
  const std::function<void()> on_block_;
  dataplane::SequenceMark taken_;
};

}  // namespace

std::unique_ptr<dataplane::Source> MakePassthroughSource(std::shared_ptr<dataplane::SlotPool> ring,
                                                         const Passthrough& what) {
  return std::make_unique<PassthroughSource>(std::move(ring), what);
}

std::unique_ptr<dataplane::Sink> MakeNullSink(std::function<void()> on_block) {
  return std::make_unique<NullSink>(std::move(on_block));
}

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeHostRing(uint64_t slots,
                                                                  uint64_t slot_bytes) {
  TD_ASSIGN_OR_RETURN(auto memory, dataplane::host::Create(slots * slot_bytes));
  return dataplane::MemoryPool::Create(std::move(memory), slot_bytes);
}

}  // namespace tapedeck::bench
