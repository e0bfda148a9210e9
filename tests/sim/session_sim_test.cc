// Sessions over the inproc transport on virtual time: every op, both directions, under drops,
// duplicates, reordering and lost rails. Nothing is lost, nothing comes twice, and a seed repeats
// itself exactly.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/transport/inproc/transport.h"
#include "services/session/client_session.h"
#include "services/session/server_session.h"
#include "tests/sim/control_pair.h"
#include "tests/sim/ends.h"
#include "tests/sim/world.h"

namespace tapedeck::sim {
namespace {

using dataplane::kMillisecondNs;
using dataplane::kSecondNs;
using dataplane::inproc::RailState;
using services::session::Direction;
using services::session::TransferOp;

constexpr uint64_t kSlotBytes = 4096;
constexpr uint64_t kBlocks = 150;

std::shared_ptr<dataplane::MemoryPool> NewRing(size_t slots) {
  return *dataplane::MemoryPool::Create(*dataplane::host::Create(slots * kSlotBytes), kSlotBytes);
}

struct Scenario {
  uint64_t seed;
  Direction direction;
  TransferOp op;
  bool faults;
};

// Both ends of one session, and the world they live in.
class SimulatedSession : public services::session::SessionHost {
 public:
  explicit SimulatedSession(const Scenario& scenario)
      : scenario_(scenario),
        world_(scenario.seed),
        fabric_(std::make_shared<dataplane::inproc::Fabric>(Faults())),
        control_(world_) {
    for (const char* rail : {"r0", "r1"}) {
      worker_rails_.push_back(dataplane::inproc::Create(
          rail, world_.NewExecutor("worker/" + std::string(rail)), fabric_));
      node_rails_.push_back(dataplane::inproc::Create(
          rail, world_.NewExecutor("node/" + std::string(rail)), fabric_));
    }
  }

  void Execute() {
    dataplane::Executor& node_executor = world_.NewExecutor("node/session");
    dataplane::Executor& worker_executor = world_.NewExecutor("worker/session");
    services::session::ServerSession server(
        node_executor, {.id = "s", .transports = Rails(node_rails_), .host = this},
        std::move(control_.node), [this] { server_ended_ = true; });
    services::session::ClientSessionSettings settings{.node = "node",
                                                      .transports = Rails(worker_rails_)};
    settings.open.direction = scenario_.direction;
    settings.open.op = scenario_.op;
    settings.open.slots = 16;
    settings.open.expected_blocks = kBlocks;
    settings.make_end = [this](const services::session::Accept&) { return WorkerEnd(); };
    settings.on_change = [this, &worker_executor](const services::session::Snapshot& s) {
      // A session starts only with all its rails; what happens to them later it must survive.
      if (scenario_.faults && s.running && !result_.running) PlanRailLoss(worker_executor);
      result_ = s;
    };
    services::session::ClientSession client(worker_executor, std::move(settings),
                                            std::move(control_.worker));
    node_executor.Post([&] { server.Start(); });
    worker_executor.Post([&] { client.Start(); });
    finished_ = world_.RunUntil([&] { return result_.ended && server_ended_; }, 300 * kSecondNs);
    world_.Note("end");
  }

  absl::StatusOr<services::session::Admission> Admit(const services::session::Open& open,
                                                     dataplane::Executor&) override {
    services::session::Admission admission;
    const services::session::TransferEnd end =
        MakeEnd(open.direction == Direction::kPlayback, node_ring_, admission);
    admission.ring = end.ring;
    admission.accept.op = open.op;
    admission.accept.block_bytes = kSlotBytes;
    if (open.direction == Direction::kPlayback) admission.accept.blocks = kBlocks;
    return admission;
  }

  const services::session::Snapshot& result() const { return result_; }
  bool finished() const { return finished_; }
  World& world() { return world_; }
  uint64_t delivered() const { return delivered_; }
  bool slots_returned() const {
    return worker_ring_->free_slots() == worker_ring_->slots() &&
           node_ring_->free_slots() == node_ring_->slots();
  }

 private:
  dataplane::inproc::FabricFaults Faults() const {
    dataplane::inproc::FabricFaults faults{.seed = scenario_.seed, .max_delay_ns = 200'000};
    if (scenario_.faults) {
      faults.drop = 0.002;
      faults.duplicate = 0.002;
      faults.reorder = 0.002;
    }
    return faults;
  }

  static std::vector<dataplane::Transport*> Rails(
      const std::vector<std::unique_ptr<dataplane::Transport>>& rails) {
    return {rails[0].get(), rails[1].get()};
  }

  std::unique_ptr<dataplane::Sink> NewSink() {
    return std::make_unique<PatternSink>([this](uint64_t sequence) {
      ++delivered_;
      world_.Note("block " + std::to_string(sequence));
    });
  }

  services::session::TransferEnd MakeEnd(bool sending,
                                         const std::shared_ptr<dataplane::MemoryPool>& ring,
                                         services::session::Admission& admission) {
    if (sending) {
      admission.source = std::make_unique<PatternSource>(ring, kBlocks);
    } else {
      admission.sink = NewSink();
    }
    return {.ring = ring};
  }

  services::session::TransferEnd WorkerEnd() {
    services::session::Admission made;
    services::session::TransferEnd end =
        MakeEnd(scenario_.direction == Direction::kRecord, worker_ring_, made);
    end.source = std::move(made.source);
    end.sink = std::move(made.sink);
    return end;
  }

  // One rail at a time goes away, loudly or silently, and comes back.
  void PlanRailLoss(dataplane::Executor& executor) {
    int64_t at_ns = world_.clock().NowNs();
    for (int i = 0; i < 6; ++i) {
      const std::string rail = i % 2 == 0 ? "r0" : "r1";
      const RailState state = world_.random()() % 2 == 0 ? RailState::kCut : RailState::kSilent;
      at_ns += static_cast<int64_t>(world_.random()() % (2 * kMillisecondNs));
      executor.PostAt(at_ns, [this, rail, state] { fabric_->SetRail(rail, state); });
      at_ns += static_cast<int64_t>(world_.random()() % (5 * kSecondNs));
      executor.PostAt(at_ns, [this, rail] { fabric_->SetRail(rail, RailState::kUp); });
    }
  }

  const Scenario scenario_;
  World world_;
  std::shared_ptr<dataplane::inproc::Fabric> fabric_;
  ControlPair control_;
  std::vector<std::unique_ptr<dataplane::Transport>> worker_rails_;
  std::vector<std::unique_ptr<dataplane::Transport>> node_rails_;
  std::shared_ptr<dataplane::MemoryPool> worker_ring_ = NewRing(16);
  std::shared_ptr<dataplane::MemoryPool> node_ring_ = NewRing(16);
  services::session::Snapshot result_;
  bool server_ended_ = false;
  bool finished_ = false;
  uint64_t delivered_ = 0;
};

void Check(SimulatedSession& run) {
  ASSERT_TRUE(run.finished()) << "still running after 300 s of virtual time";
  EXPECT_TRUE(run.result().error.ok()) << run.result().error;
  EXPECT_EQ(run.delivered(), kBlocks);
  EXPECT_EQ(run.result().blocks, kBlocks);
  EXPECT_EQ(run.result().bytes, kBlocks * kSlotBytes);
  EXPECT_EQ(run.result().lost_blocks, 0u);
  EXPECT_TRUE(run.slots_returned());
}

class SessionSim : public testing::TestWithParam<std::tuple<Direction, TransferOp>> {
 protected:
  Scenario scenario(uint64_t seed, bool faults) const {
    return {seed, std::get<0>(GetParam()), std::get<1>(GetParam()), faults};
  }
};

TEST_P(SessionSim, MovesEveryBlockOnce) {
  SimulatedSession run(scenario(1, false));
  run.Execute();
  Check(run);
  for (const auto& rail : run.result().rails) {
    EXPECT_GT(rail.blocks, kBlocks * 35 / 100) << rail.name;
    EXPECT_LT(rail.blocks, kBlocks * 65 / 100) << rail.name;
  }
}

// TAPEDECK_SIM_SEED=n runs that seed alone.
TEST_P(SessionSim, SurvivesFaults) {
  const char* only = std::getenv("TAPEDECK_SIM_SEED");
  const uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  const uint64_t last = only != nullptr ? first : 200;
  for (uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("repeat with TAPEDECK_SIM_SEED=" + std::to_string(seed));
    SimulatedSession run(scenario(seed, true));
    run.Execute();
    Check(run);
    if (HasFailure()) return;
  }
}

TEST_P(SessionSim, RepeatsExactly) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SimulatedSession first(scenario(seed, true));
    first.Execute();
    SimulatedSession second(scenario(seed, true));
    second.Execute();
    EXPECT_EQ(first.world().fingerprint(), second.world().fingerprint()) << "seed " << seed;
    EXPECT_EQ(first.world().log(), second.world().log()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, SessionSim,
                         testing::Combine(testing::Values(Direction::kRecord, Direction::kPlayback),
                                          testing::Values(TransferOp::kRead, TransferOp::kWrite,
                                                          TransferOp::kSend)));

}  // namespace
}  // namespace tapedeck::sim
