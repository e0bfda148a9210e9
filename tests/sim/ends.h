// A source of recognisable blocks and a sink that checks them, for sessions without a store.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/block/sequence_mark.h"
#include "dataplane/block/sink.h"
#include "dataplane/block/source.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/memory/slot_pool.h"
#include "tests/bytes.h"

namespace tapedeck::sim {

// The payload of block `sequence`: every 8 bytes hold sequence and place, so that no two are alike.
inline void FillPattern(uint64_t sequence, std::span<std::byte> payload) {
  FillCounted(sequence * 1'000'003, payload);
}

// Gives `blocks` blocks as fast as slots are free, of `bytes` each; 0: as large as the slots.
class PatternSource final : public dataplane::Source {
 public:
  PatternSource(
      std::shared_ptr<dataplane::SlotPool> ring, uint64_t blocks,
      std::function<void(uint64_t)> on_acknowledged = [](uint64_t) {}, size_t bytes = 0)
      : ring_(std::move(ring)),
        blocks_(blocks),
        on_acknowledged_(std::move(on_acknowledged)),
        bytes_(bytes == 0 ? ring_->slot_bytes() : bytes) {}
  ~PatternSource() override { ring_->SetWaker(nullptr); }

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    if (next_ == blocks_) return dataplane::Flow::kEnd;
    std::optional<dataplane::Block> slot = ring_->Take();
    if (!slot.has_value()) return dataplane::Flow::kNotNow;
    *block = *std::move(slot);
    block->header() = {.sequence = next_,
                       .sample_index = next_ * 100,
                       .payload_bytes = static_cast<uint32_t>(bytes_)};
    FillPattern(next_++, block->payload());
    block->header().crc32c = dataplane::Crc32c(block->payload());
    return dataplane::Flow::kMoved;
  }
  void SetWaker(dataplane::Waker waker) override { ring_->SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t watermark) override { on_acknowledged_(watermark); }
  absl::Status Reject(const dataplane::BlockHeader&) override {
    return absl::InternalError("a pattern is never wrong");
  }

 private:
  const std::shared_ptr<dataplane::SlotPool> ring_;
  const uint64_t blocks_;
  const std::function<void(uint64_t)> on_acknowledged_;
  const size_t bytes_;
  uint64_t next_ = 0;
};

// Takes each block exactly once and intact, or as missing, or fails. `on_block` hears of those that
// are there.
class PatternSink final : public dataplane::Sink {
 public:
  explicit PatternSink(std::function<void(uint64_t)> on_block) : on_block_(std::move(on_block)) {}

  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override {
    const uint64_t sequence = block->header().sequence;
    std::vector<std::byte> expected(block->payload().size());
    FillPattern(sequence, expected);
    if (!SameBytes(expected, block->payload())) {
      return absl::DataLossError(absl::StrCat("block ", sequence, " has wrong bytes"));
    }
    if (!taken_.Add(sequence)) {
      return absl::InternalError(absl::StrCat("block ", sequence, " came twice"));
    }
    const bool missing = (block->header().flags & dataplane::kBlockMissing) != 0;
    block->Reset();
    if (!missing) on_block_(sequence);
    return dataplane::Flow::kMoved;
  }
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status&) override {
    return dataplane::Flow::kEnd;
  }
  void SetWaker(dataplane::Waker) override {}
  dataplane::Watermarks watermarks() const override {
    return {taken_.mark(), taken_.mark(), taken_.mark()};
  }

 private:
  const std::function<void(uint64_t)> on_block_;
  dataplane::SequenceMark taken_;
};

}  // namespace tapedeck::sim
