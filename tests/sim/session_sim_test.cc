// Sessions over the inproc transport on virtual time: every op, both directions, under drops,
// duplicates, reordering and lost rails. Nothing is lost, nothing comes twice, and a seed repeats
// itself exactly.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ends.h"
#include "tests/sim/seeds.h"
#include "tests/sim/simulated_session.h"

namespace tapedeck::sim {
namespace {

using services::session::Direction;
using services::session::TransferOp;

constexpr uint64_t kSentBlocks = 150;
constexpr uint64_t kSentBlockBytes = 4096;

// A pattern of one block a second.
class SlowSource final : public dataplane::Source {
 public:
  SlowSource(std::shared_ptr<dataplane::SlotPool> ring, dataplane::Executor& executor)
      : pattern_(std::move(ring), kSentBlocks), executor_(executor) {}

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override {
    if (executor_.clock().NowNs() < due_ns_) return dataplane::Flow::kNotNow;
    due_ns_ = executor_.clock().NowNs() + dataplane::kSecondNs;
    executor_.PostAfter(dataplane::kSecondNs, lifetime_.Guard([this] {
      if (waker_) waker_();
    }));
    return pattern_.Pull(block);
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
  dataplane::Executor& executor_;
  dataplane::Waker waker_;
  int64_t due_ns_ = 0;
  dataplane::Lifetime lifetime_;
};

// A node that gives and checks patterns.
class PatternHost final : public services::session::SessionHost {
 public:
  explicit PatternHost(bool slow = false) : slow_(slow) {}

  void Admit(const services::session::Open& open, dataplane::Executor& executor,
             std::shared_ptr<services::session::AdmissionWatch>,
             services::session::OnAdmitted admitted) override {
    services::session::Admission admission{.ring = ring_};
    admission.accept.op = open.op.value_or(TransferOp::kRead);
    admission.accept.datatype = "cf32_le";
    admission.accept.block_bytes = kSentBlockBytes;
    if (open.direction == Direction::kPlayback) {
      admission.accept.blocks = kSentBlocks;
      admission.source =
          slow_ ? std::unique_ptr<dataplane::Source>(std::make_unique<SlowSource>(ring_, executor))
                : std::make_unique<PatternSource>(ring_, kSentBlocks);
    } else {
      admission.sink = std::make_unique<PatternSink>([this](uint64_t) { ++delivered_; });
    }
    admitted(std::move(admission));
  }

  uint64_t delivered() const { return delivered_; }
  bool slots_returned() const { return ring_->free_slots() == ring_->slots(); }

 private:
  const bool slow_;  // playback
  const std::shared_ptr<dataplane::MemoryPool> ring_ = NewRing(16, kSentBlockBytes);
  uint64_t delivered_ = 0;
};

class SessionSim : public testing::TestWithParam<std::tuple<Direction, TransferOp>> {
 protected:
  static Scenario MakeScenario(uint64_t seed, bool faults) {
    Scenario scenario{
        .seed = seed, .blocks = kSentBlocks, .block_bytes = kSentBlockBytes, .faults = faults};
    scenario.open.direction = std::get<0>(GetParam());
    scenario.open.op = std::get<1>(GetParam());
    return scenario;
  }

  static void RunAndCheck(SimulatedSession& session, const PatternHost& host) {
    ASSERT_TRUE(session.Execute()) << "still running after 300 s of virtual time";
    EXPECT_TRUE(session.result().error.ok()) << session.result().error;
    EXPECT_EQ(session.delivered() + host.delivered(), kSentBlocks);
    EXPECT_EQ(session.result().blocks, kSentBlocks);
    EXPECT_EQ(session.result().bytes, kSentBlocks * kSentBlockBytes);
    EXPECT_EQ(session.result().lost_blocks, 0u);
    EXPECT_TRUE(session.slots_returned());
    EXPECT_TRUE(host.slots_returned());
  }
};

TEST_P(SessionSim, MovesEveryBlockOnceOverBothRails) {
  PatternHost host;
  SimulatedSession session(MakeScenario(1, false), host);
  RunAndCheck(session, host);
  for (const auto& rail : session.result().rails) {
    EXPECT_GT(rail.blocks, kSentBlocks * 35 / 100) << rail.name;
    EXPECT_LT(rail.blocks, kSentBlocks * 65 / 100) << rail.name;
  }
}

TEST_P(SessionSim, SurvivesFaults) {
  for (const uint64_t seed : FaultSeeds(200)) {
    SCOPED_TRACE(HowToRepeat(seed));
    PatternHost host;
    SimulatedSession session(MakeScenario(seed, true), host);
    RunAndCheck(session, host);
    if (HasFailure()) return;
  }
}

TEST_P(SessionSim, RepeatsExactly) {
  for (const uint64_t seed : FaultSeeds(20)) {
    PatternHost host;
    SimulatedSession first(MakeScenario(seed, true), host);
    first.Execute();
    SimulatedSession second(MakeScenario(seed, true), host);
    second.Execute();
    EXPECT_EQ(first.world().fingerprint(), second.world().fingerprint()) << HowToRepeat(seed);
    EXPECT_EQ(first.world().log(), second.world().log()) << HowToRepeat(seed);
  }
}

// A rail that has been away for long and is back is tried at once when the last other one fails.
TEST(RailOutages, TheLastRailFailsWhileAnotherWaitsOutItsBackOff) {
  PatternHost host(/*slow=*/true);
  Scenario scenario{.blocks = kSentBlocks, .block_bytes = kSentBlockBytes};
  scenario.open.direction = Direction::kPlayback;
  scenario.open.op = TransferOp::kWrite;
  constexpr int64_t kBackNs = 100 * dataplane::kSecondNs;
  scenario.outages = {{"r1", dataplane::kSecondNs, kBackNs},
                      {"r0", kBackNs + dataplane::kSecondNs, 140 * dataplane::kSecondNs}};
  SimulatedSession session(scenario, host);
  EXPECT_TRUE(session.Execute());
  EXPECT_TRUE(session.result().error.ok()) << session.result().error;
  EXPECT_EQ(session.delivered(), kSentBlocks);
}

INSTANTIATE_TEST_SUITE_P(Ops, SessionSim,
                         testing::Combine(testing::Values(Direction::kRecord, Direction::kPlayback),
                                          testing::Values(TransferOp::kRead, TransferOp::kWrite,
                                                          TransferOp::kSend)));

}  // namespace
}  // namespace tapedeck::sim
