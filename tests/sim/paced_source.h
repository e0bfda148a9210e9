// A source that cannot wait, for sessions without a pipeline.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "dataplane/block/source.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/memory/slot_pool.h"
#include "tests/sim/ends.h"

namespace tapedeck::sim {

struct SourcePace {
  uint64_t blocks = 0;
  int64_t period_ns = 0;
  uint32_t block_bytes = 0;
  std::function<void(uint64_t)> on_acknowledged = [](uint64_t) {};
};

// Makes a block every so often, whether or not there is room for it: what finds none is missing.
class PacedSource final : public dataplane::Source {
 public:
  PacedSource(dataplane::Executor& executor, std::shared_ptr<dataplane::SlotPool> ring,
              SourcePace pace, std::set<uint64_t>* lost)
      : executor_(executor), ring_(std::move(ring)), pace_(std::move(pace)), lost_(*lost) {}

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    if (ready_.empty()) {
      return next_ == pace_.blocks ? dataplane::Flow::kEnd : dataplane::Flow::kNotNow;
    }
    *block = std::move(ready_.front());
    ready_.pop_front();
    return dataplane::Flow::kMoved;
  }
  // The first time it begins.
  void SetWaker(dataplane::Waker waker) override {
    waker_ = std::move(waker);
    Tick();
  }
  void Acknowledge(uint64_t watermark) override { pace_.on_acknowledged(watermark); }
  absl::Status Reject(const dataplane::BlockHeader&) override {
    return absl::InternalError("a pattern is never wrong");
  }

 private:
  void Tick() {
    if (next_ == pace_.blocks) return;
    dataplane::BlockHeader header{.sequence = next_, .sample_index = next_ * 100};
    if (std::optional<dataplane::Block> block = ring_->Take()) {
      header.payload_bytes = pace_.block_bytes;
      block->header() = header;
      FillPattern(next_, block->payload());
      block->header().crc32c = dataplane::Crc32c(block->payload());
      ready_.push_back(*std::move(block));
    } else {
      header.flags = dataplane::kBlockMissing;
      ready_.push_back(dataplane::Block::Missing(header));
      lost_.insert(next_);
    }
    ++next_;
    waker_();
    executor_.PostAfter(pace_.period_ns, lifetime_.Guard([this] { Tick(); }));
  }

  dataplane::Executor& executor_;
  const std::shared_ptr<dataplane::SlotPool> ring_;
  const SourcePace pace_;
  std::set<uint64_t>& lost_;
  std::deque<dataplane::Block> ready_;
  dataplane::Waker waker_;
  uint64_t next_ = 0;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::sim
