#include "tests/sim/simulated_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/transport/inproc/transport.h"
#include "services/session/serving/server_session.h"
#include "tests/sim/ends.h"

namespace tapedeck::sim {

using dataplane::kMillisecondNs;
using dataplane::kSecondNs;
using dataplane::inproc::RailState;
using services::session::Direction;

namespace {

constexpr size_t kWorkerSlots = 16;

dataplane::inproc::FabricFaults FaultsOf(const Scenario& scenario) {
  dataplane::inproc::FabricFaults faults{.seed = scenario.seed, .max_delay_ns = 200'000};
  if (scenario.faults) faults.drop = faults.duplicate = faults.reorder = 0.002;
  return faults;
}

std::vector<dataplane::Transport*> Pointers(
    const std::vector<std::unique_ptr<dataplane::Transport>>& rails) {
  std::vector<dataplane::Transport*> pointers;
  for (const auto& rail : rails) pointers.push_back(rail.get());
  return pointers;
}

}  // namespace

std::shared_ptr<dataplane::MemoryPool> NewRing(size_t slots, size_t slot_bytes) {
  return *dataplane::MemoryPool::Create(*dataplane::host::Create(slots * slot_bytes), slot_bytes);
}

SimulatedSession::SimulatedSession(const Scenario& scenario, services::session::SessionHost& host)
    : scenario_(scenario),
      host_(host),
      world_(scenario.seed),
      fabric_(std::make_shared<dataplane::inproc::Fabric>(FaultsOf(scenario))),
      control_(world_),
      worker_rails_(MakeRails("worker")),
      node_rails_(MakeRails("node")),
      ring_(NewRing(kWorkerSlots, scenario.block_bytes)) {}

SimulatedSession::Rails SimulatedSession::MakeRails(const std::string& node) {
  Rails rails;
  for (const char* rail : {"r0", "r1"}) {
    rails.push_back(dataplane::inproc::Create(
        rail, world_.NewExecutor(absl::StrCat(node, "/", rail)), fabric_));
  }
  return rails;
}

bool SimulatedSession::Execute() {
  dataplane::Executor& node_executor = world_.NewExecutor("node/session");
  dataplane::Executor& worker_executor = world_.NewExecutor("worker/session");
  services::session::ServerSession server(
      node_executor, {.id = "s", .transports = Pointers(node_rails_), .host = &host_},
      std::move(control_.node), [this] { server_ended_ = true; });
  services::session::ClientSession client(worker_executor, ClientSettings(),
                                          std::move(control_.worker));
  node_executor.Post([&] { server.Start(); });
  worker_executor.Post(
      [&] { client.Start([&](const auto& snapshot) { OnChange(worker_executor, snapshot); }); });
  const bool ended =
      world_.RunUntil([&] { return (result_.ended && server_ended_) || scenario_.node_is_dead(); },
                      300 * kSecondNs);
  world_.Note("end");
  return ended;
}

services::session::ClientSessionSettings SimulatedSession::ClientSettings() {
  services::session::ClientSessionSettings settings{
      .node = "node", .open = scenario_.open, .transports = Pointers(worker_rails_)};
  settings.open.slots = kWorkerSlots;
  settings.open.slot_bytes = scenario_.block_bytes;
  settings.make_end = [this](const services::session::Accept&) { return WorkerEnd(); };
  return settings;
}

void SimulatedSession::OnChange(dataplane::Executor& executor,
                                const services::session::Snapshot& snapshot) {
  // A session starts only with all its rails; what happens to them later it must survive.
  if (snapshot.running && !result_.running) {
    if (scenario_.faults) PlanRailLoss(executor);
    PlanOutages(executor);
  }
  result_ = snapshot;
}

services::session::TransferEnd SimulatedSession::WorkerEnd() {
  services::session::TransferEnd end{.ring = ring_};
  if (scenario_.open.direction == Direction::kRecord) {
    end.source = std::make_unique<PatternSource>(
        ring_, scenario_.blocks, [this](uint64_t watermark) { acknowledged_ = watermark; });
  } else {
    end.sink = std::make_unique<PatternSink>([this](uint64_t sequence) {
      good_.insert(sequence);
      world_.Note(absl::StrCat("block ", sequence));
    });
  }
  return end;
}

// One rail at a time goes away, loudly or silently, and comes back.
void SimulatedSession::PlanRailLoss(dataplane::Executor& executor) {
  int64_t at_ns = world_.clock().NowNs();
  for (int i = 0; i < 6; ++i) {
    const std::string rail = i % 2 == 0 ? "r0" : "r1";
    const RailState state = world_.random()() % 2 == 0 ? RailState::kCut : RailState::kSilent;
    at_ns += static_cast<int64_t>(world_.random()() % (2 * kMillisecondNs));
    executor.PostAt(at_ns, [this, rail, state] {
      ++rail_losses_;
      fabric_->SetRail(rail, state);
    });
    at_ns += static_cast<int64_t>(world_.random()() % (5 * kSecondNs));
    executor.PostAt(at_ns, [this, rail] { fabric_->SetRail(rail, RailState::kUp); });
  }
}

void SimulatedSession::PlanOutages(dataplane::Executor& executor) {
  for (const Outage& outage : scenario_.outages) {
    const auto set = [&](int64_t after_ns, RailState state) {
      executor.PostAfter(after_ns,
                         [this, rail = outage.rail, state] { fabric_->SetRail(rail, state); });
    };
    set(outage.from_ns, RailState::kSilent);
    set(outage.to_ns, RailState::kUp);
  }
}

}  // namespace tapedeck::sim
