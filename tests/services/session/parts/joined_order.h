// What a joiner gives of parts that come at any pace of theirs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "dataplane/executor/lifetime.h"
#include "services/session/parts/joiner.h"
#include "services/session/transfer/pump.h"
#include "tests/sim/simulated_session.h"
#include "tests/sim/world.h"

namespace tapedeck::services::parts {

struct JoinedOrder {
  uint64_t blocks = 0;
  std::set<uint64_t> missing;
  std::set<uint64_t> damaged;
  absl::Status status;
  JoinCounts counts;
  std::vector<uint64_t> given;  // blocks, by each part
};

// A sample index of a block whose bytes are not what was recorded.
inline constexpr uint64_t kDamagedBit = 1ULL << 63;
// And of one that is not there.
inline constexpr uint64_t kMissingBit = 1ULL << 62;

// Gives a part's blocks in its own order, from a small ring, each with its sample index as payload.
// As a node does, it gives no more than the ring has slots before they are acknowledged.
class PartSource final : public dataplane::Source {
 public:
  PartSource(std::vector<uint64_t> samples, size_t slots)
      : samples_(std::move(samples)), slots_(slots), ring_(sim::NewRing(slots, 8)) {}
  ~PartSource() override { ring_->SetWaker(nullptr); }
  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    if (next_ == samples_.size()) return dataplane::Flow::kEnd;
    if (next_ >= acknowledged_ + slots_) return dataplane::Flow::kNotNow;
    if ((samples_[next_] & kMissingBit) != 0) {
      *block = dataplane::Block::Missing({.sequence = next_,
                                          .sample_index = samples_[next_] & ~kMissingBit,
                                          .flags = dataplane::kBlockMissing});
      ++next_;
      return dataplane::Flow::kMoved;
    }
    auto slot = ring_->Take();
    if (!slot.has_value()) return dataplane::Flow::kNotNow;
    *block = *std::move(slot);
    const bool damaged = (samples_[next_] & kDamagedBit) != 0;
    block->header() = {.sequence = next_,
                       .sample_index = damaged ? samples_[next_] & ~kDamagedBit : samples_[next_],
                       .payload_bytes = 8,
                       .flags = damaged ? dataplane::kBlockDamaged : 0u};
    std::memcpy(block->payload().data(), &samples_[next_++], 8);
    return dataplane::Flow::kMoved;
  }
  void SetWaker(dataplane::Waker waker) override {
    waker_ = waker;
    ring_->SetWaker(std::move(waker));
  }
  void Acknowledge(uint64_t watermark) override {
    if (watermark > acknowledged_ && waker_) waker_();
    acknowledged_ = std::max(acknowledged_, watermark);
  }
  absl::Status Reject(const dataplane::BlockHeader&) override { return absl::OkStatus(); }

 private:
  const std::vector<uint64_t> samples_;
  const size_t slots_;
  dataplane::Waker waker_;
  uint64_t acknowledged_ = 0;
  const std::shared_ptr<dataplane::SlotPool> ring_;
  size_t next_ = 0;
};

// In the order of the stream, each with its own bytes; not all at once.
class OrderSink final : public dataplane::Sink {
 public:
  OrderSink(dataplane::Executor& executor, uint64_t first, uint64_t block_samples,
            JoinedOrder& order)
      : executor_(executor), first_(first), block_samples_(block_samples), order_(order) {}
  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override {
    if (++calls_ % 7 == 0) {
      executor_.PostAfter(1000, lifetime_.Guard([this] { waker_(); }));
      return dataplane::Flow::kNotNow;
    }
    const dataplane::BlockHeader header = block->header();
    EXPECT_EQ(header.sequence, order_.blocks);
    const uint64_t sample = (first_ + order_.blocks) * block_samples_;
    EXPECT_EQ(header.sample_index, sample);
    if ((header.flags & dataplane::kBlockMissing) != 0) {
      order_.missing.insert(first_ + order_.blocks);
    } else if ((header.flags & dataplane::kBlockDamaged) != 0) {
      order_.damaged.insert(first_ + order_.blocks);
    } else {
      EXPECT_EQ(std::memcmp(block->payload().data(), &sample, 8), 0);
    }
    ++order_.blocks;
    block->Reset();
    return dataplane::Flow::kMoved;
  }
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status&) override {
    return dataplane::Flow::kEnd;
  }
  void SetWaker(dataplane::Waker waker) override { waker_ = std::move(waker); }
  dataplane::Watermarks watermarks() const override {
    return {.received = order_.blocks, .written = order_.blocks, .durable = order_.blocks};
  }

 private:
  dataplane::Executor& executor_;
  const uint64_t first_;
  const uint64_t block_samples_;
  JoinedOrder& order_;
  dataplane::Waker waker_;
  uint64_t calls_ = 0;
  dataplane::Lifetime lifetime_;
};

class JoinEvents final : public session::PumpEvents {
 public:
  void OnSourceEnd(uint64_t) override {}
  void OnPumpDone(const absl::Status& cause) override {
    done = true;
    status = cause;
  }
  bool done = false;
  absl::Status status;
};

// `parts`: the sample indexes of each in its own order. Where one gives alone the others begin when
// they are wanted, as far before the block that the sink waits for as one may be out of order.
inline JoinedOrder Join(const std::vector<std::vector<uint64_t>>& parts, uint64_t block_samples,
                        uint64_t reorder_window, uint64_t first = 0, size_t slots = 8,
                        std::optional<size_t> alone = std::nullopt) {
  JoinedOrder order;
  sim::World world(7);
  dataplane::Executor& executor = world.NewExecutor("worker");
  bool done = false;
  std::function<void()> begin_others;
  auto joiner =
      std::make_shared<Joiner>(executor,
                               JoinSettings{.parts = parts.size(),
                                            .block_samples = block_samples,
                                            .block_bytes = 4096,
                                            .reorder_window = reorder_window,
                                            .first = first,
                                            .ring_slots = slots,
                                            .alone = alone,
                                            .on_wanted = [&] { begin_others(); },
                                            .on_done =
                                                [&](const absl::Status& status) {
                                                  done = true;
                                                  order.status = status;
                                                }},
                               std::make_unique<OrderSink>(executor, first, block_samples, order));
  std::deque<PartSource> sources;
  std::deque<JoinedSink> sinks;
  std::deque<JoinEvents> events;
  std::deque<session::Pump> pumps;
  const auto begin = [&](size_t part, uint64_t sample) {
    std::vector<uint64_t> samples = parts[part];
    std::erase_if(samples, [=](uint64_t s) { return (s & ~(kDamagedBit | kMissingBit)) < sample; });
    sources.emplace_back(std::move(samples), slots);
    sinks.emplace_back(joiner, part);
    pumps.emplace_back(executor, sources.back(), sinks.back(), dataplane::CommitLevel::kDurable,
                       &events.emplace_back());
    executor.Post([&pump = pumps.back()] { pump.Start(); });
  };
  begin_others = [&] {
    const uint64_t next = joiner->next();
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i != alone) begin(i, next < reorder_window ? 0 : (next - reorder_window) * block_samples);
    }
  };
  if (alone.has_value()) {
    begin(*alone, 0);
  } else {
    for (size_t i = 0; i < parts.size(); ++i) begin(i, 0);
  }
  const auto over = [&] {
    return done && std::ranges::all_of(events, [](const JoinEvents& e) { return e.done; });
  };
  EXPECT_TRUE(world.RunUntil(over, 3600 * dataplane::kSecondNs)) << "the join never ended";
  order.counts = joiner->counts();
  for (size_t i = 0; i < parts.size(); ++i) order.given.push_back(joiner->watermark(i));
  for (const JoinEvents& event : events) order.status.Update(event.status);
  return order;
}

}  // namespace tapedeck::services::parts
