// What both ends of a session say that they spent their time on, with one stage of it slow, on
// virtual time: every op.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "services/observe/explain/explanation.h"
#include "tests/sim/ends.h"
#include "tests/sim/simulated_session.h"

namespace tapedeck::sim {
namespace {

namespace explain = services::explain;
using dataplane::Flow;
using services::session::Direction;
using services::session::TransferOp;

constexpr uint64_t kStageBlocks = 400;
constexpr int64_t kSlowNs = 10 * dataplane::kMillisecondNs;

// What a slow stage is slow with: one block at a time.
class Pace {
 public:
  explicit Pace(dataplane::Executor& executor) : executor_(executor) {}
  void After(std::function<void()> then) {
    executor_.PostAfter(kSlowNs, lifetime_.Guard(std::move(then)));
  }

 private:
  dataplane::Executor& executor_;
  dataplane::Lifetime lifetime_;
};

// Takes every block at once, and is done with one every 10 ms: with writing it, or with a flush of
// all that it has, which takes ten times as long.
class SlowSink final : public dataplane::Sink {
 public:
  SlowSink(dataplane::Executor& executor, bool flushes) : pace_(executor), flushes_(flushes) {}

  absl::StatusOr<Flow> Push(dataplane::Block* block) override {
    arrived_.Add(block->header().sequence);
    if (flushes_) block->Reset();  // the slot is free, the block is not durable
    waiting_.push_back(std::move(*block));
    Work();
    return Flow::kMoved;
  }
  absl::StatusOr<Flow> Finish(const absl::Status&) override {
    return waiting_.empty() && !busy_ ? Flow::kEnd : Flow::kNotNow;
  }
  void SetWaker(dataplane::Waker waker) override { waker_ = std::move(waker); }
  dataplane::Watermarks watermarks() const override {
    return {arrived_.mark(), flushes_ ? arrived_.mark() : done_, done_};
  }

 private:
  void Work() {
    if (waiting_.empty() || std::exchange(busy_, true)) return;
    pace_.After([this, blocks = flushes_ ? waiting_.size() : 1] {
      busy_ = false;
      done_ += blocks;
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(blocks));
      Work();
      waker_();
    });
  }

  Pace pace_;
  const bool flushes_;
  dataplane::Waker waker_;
  dataplane::SequenceMark arrived_;
  std::deque<dataplane::Block> waiting_;
  uint64_t done_ = 0;
  bool busy_ = false;
};

// Gives a block every 10 ms.
class SlowStore final : public dataplane::Source {
 public:
  SlowStore(std::shared_ptr<dataplane::SlotPool> ring, dataplane::Executor& executor)
      : pattern_(std::move(ring), kStageBlocks), pace_(executor) {}

  absl::StatusOr<Flow> Pull(dataplane::Block* block) override {
    if (!due_) return Flow::kNotNow;
    auto flow = pattern_.Pull(block);
    if (!flow.ok() || *flow != Flow::kMoved) return flow;
    due_ = false;
    pace_.After([this] {
      due_ = true;
      waker_();
    });
    return flow;
  }
  void SetWaker(dataplane::Waker waker) override {
    waker_ = waker;
    pattern_.SetWaker(std::move(waker));
  }
  void Acknowledge(uint64_t watermark) override { pattern_.Acknowledge(watermark); }
  absl::Status Reject(const dataplane::BlockHeader& header) override {
    return pattern_.Reject(header);
  }

 private:
  PatternSource pattern_;
  Pace pace_;
  dataplane::Waker waker_;
  bool due_ = true;
};

class SlowHost final : public services::session::SessionHost {
 public:
  explicit SlowHost(bool flushes = false) : flushes_(flushes) {}

  void Admit(const services::session::Open& open, dataplane::Executor& executor,
             std::shared_ptr<services::session::AdmissionWatch>,
             services::session::OnAdmitted admitted) override {
    services::session::Admission admission{.ring = ring_};
    admission.accept.op = open.op.value_or(TransferOp::kRead);
    admission.accept.datatype = "cf32_le";
    admission.accept.block_bytes = 4096;
    if (open.direction == Direction::kPlayback) {
      admission.accept.blocks = kStageBlocks;
      admission.source = std::make_unique<SlowStore>(ring_, executor);
    } else {
      admission.sink = std::make_unique<SlowSink>(executor, flushes_);
    }
    admitted(std::move(admission));
  }

 private:
  const bool flushes_;
  const std::shared_ptr<dataplane::MemoryPool> ring_ = NewRing(16, 4096);
};

class StagesSim : public testing::TestWithParam<TransferOp> {
 protected:
  static services::StageTimes TimesOf(Direction direction, SlowHost& host) {
    Scenario scenario{.seed = 1, .blocks = kStageBlocks, .block_bytes = 4096};
    scenario.open.direction = direction;
    scenario.open.op = GetParam();
    SimulatedSession session(scenario, host);
    EXPECT_TRUE(session.Execute());
    EXPECT_TRUE(session.result().error.ok()) << session.result().error;
    return session.result().stage_times;
  }
};

TEST_P(StagesSim, ASlowSinkIsTheStore) {
  SlowHost host;
  const auto found = explain::Explain(TimesOf(Direction::kRecord, host), Direction::kRecord);
  EXPECT_EQ(found.limited_by, "store");
  EXPECT_GT(found.stages[0].share, 0.9);
  EXPECT_NEAR(found.elapsed_s, kStageBlocks * 0.01, 1);
}

TEST_P(StagesSim, ASlowStoreIsWhatAPlaybackWaitsFor) {
  SlowHost host;
  const auto found = explain::Explain(TimesOf(Direction::kPlayback, host), Direction::kPlayback);
  EXPECT_EQ(found.limited_by, "store");
  EXPECT_GT(found.stages[0].share, 0.9);
}

// The node's storage says how long flushes took; here nobody does, and what is left is the wait.
TEST_P(StagesSim, ASinkThatOnlyAcknowledgesLateHoldsTheRing) {
  SlowHost host(/*flushes=*/true);
  services::StageTimes times = TimesOf(Direction::kRecord, host);
  EXPECT_EQ(explain::Explain(times, Direction::kRecord).limited_by, "acknowledge");
  int64_t elapsed_ns = 0;
  for (const auto& time : times) {
    if (time.what.starts_with("send.")) elapsed_ns += time.time_ns;
  }
  times.push_back({"store.flush", "", elapsed_ns});
  EXPECT_EQ(explain::Explain(times, Direction::kRecord).limited_by, "flush");
}

INSTANTIATE_TEST_SUITE_P(Ops, StagesSim,
                         testing::Values(TransferOp::kRead, TransferOp::kWrite, TransferOp::kSend));

}  // namespace
}  // namespace tapedeck::sim
