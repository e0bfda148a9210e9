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

constexpr uint64_t kBlocks = 150;
constexpr uint64_t kBlockBytes = 4096;

// A node that gives and checks patterns.
class PatternHost final : public services::session::SessionHost {
 public:
  absl::StatusOr<services::session::Admission> Admit(const services::session::Open& open,
                                                     dataplane::Executor&) override {
    services::session::Admission admission{.ring = ring_};
    admission.accept.op = open.op;
    admission.accept.block_bytes = kBlockBytes;
    if (open.direction == Direction::kPlayback) {
      admission.accept.blocks = kBlocks;
      admission.source = std::make_unique<PatternSource>(ring_, kBlocks);
    } else {
      admission.sink = std::make_unique<PatternSink>([this](uint64_t) { ++delivered_; });
    }
    return admission;
  }

  uint64_t delivered() const { return delivered_; }
  bool slots_returned() const { return ring_->free_slots() == ring_->slots(); }

 private:
  const std::shared_ptr<dataplane::MemoryPool> ring_ = NewRing(16, kBlockBytes);
  uint64_t delivered_ = 0;
};

class SessionSim : public testing::TestWithParam<std::tuple<Direction, TransferOp>> {
 protected:
  static Scenario MakeScenario(uint64_t seed, bool faults) {
    Scenario scenario{
        .seed = seed, .blocks = kBlocks, .block_bytes = kBlockBytes, .faults = faults};
    scenario.open.direction = std::get<0>(GetParam());
    scenario.open.op = std::get<1>(GetParam());
    return scenario;
  }

  static void RunAndCheck(SimulatedSession& session, const PatternHost& host) {
    ASSERT_TRUE(session.Execute()) << "still running after 300 s of virtual time";
    EXPECT_TRUE(session.result().error.ok()) << session.result().error;
    EXPECT_EQ(session.delivered() + host.delivered(), kBlocks);
    EXPECT_EQ(session.result().blocks, kBlocks);
    EXPECT_EQ(session.result().bytes, kBlocks * kBlockBytes);
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
    EXPECT_GT(rail.blocks, kBlocks * 35 / 100) << rail.name;
    EXPECT_LT(rail.blocks, kBlocks * 65 / 100) << rail.name;
  }
}

TEST_P(SessionSim, SurvivesFaults) {
  for (const uint64_t seed : Seeds(200)) {
    SCOPED_TRACE(HowToRepeat(seed));
    PatternHost host;
    SimulatedSession session(MakeScenario(seed, true), host);
    RunAndCheck(session, host);
    if (HasFailure()) return;
  }
}

TEST_P(SessionSim, RepeatsExactly) {
  for (const uint64_t seed : Seeds(20)) {
    PatternHost host;
    SimulatedSession first(MakeScenario(seed, true), host);
    first.Execute();
    SimulatedSession second(MakeScenario(seed, true), host);
    second.Execute();
    EXPECT_EQ(first.world().fingerprint(), second.world().fingerprint()) << HowToRepeat(seed);
    EXPECT_EQ(first.world().log(), second.world().log()) << HowToRepeat(seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, SessionSim,
                         testing::Combine(testing::Values(Direction::kRecord, Direction::kPlayback),
                                          testing::Values(TransferOp::kRead, TransferOp::kWrite,
                                                          TransferOp::kSend)));

}  // namespace
}  // namespace tapedeck::sim
