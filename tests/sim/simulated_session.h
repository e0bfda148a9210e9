// Both ends of one session and the world they live in: the worker's end gives or checks patterns,
// the node's end is whatever host the test brings.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dataplane/memory/memory_pool.h"
#include "dataplane/transport/inproc/fabric.h"
#include "services/session/opening/client_session.h"
#include "services/session/serving/host.h"
#include "tests/sim/control_pair.h"
#include "tests/sim/world.h"

namespace tapedeck::sim {

// A rail that is silent, from the start of the transfer.
struct Outage {
  std::string rail;
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};

struct Scenario {
  uint64_t seed = 1;
  services::session::Open open;  // direction, op and target
  uint64_t blocks = 150;
  uint64_t block_bytes = 4096;
  bool faults = false;  // drops, duplicates, reordering and lost rails, all from the seed
  std::vector<Outage> outages;
  // Asked all the time: is the power of the node gone? The run ends there, nothing is closed.
  std::function<bool()> node_is_dead = [] { return false; };
};

std::shared_ptr<dataplane::MemoryPool> NewRing(size_t slots, size_t slot_bytes);

class SimulatedSession {
 public:
  // `host` answers Open on the node's executor; it outlives this.
  SimulatedSession(const Scenario& scenario, services::session::SessionHost& host);

  // Runs until both ends have ended or the node is dead; false if that takes more than 300 s of
  // virtual time.
  bool Execute();

  World& world() { return world_; }
  const services::session::Snapshot& result() const { return result_; }
  uint64_t delivered() const { return good_.size(); }       // to the worker
  const std::set<uint64_t>& good() const { return good_; }  // which they were
  // Recording: what the worker was told to be safe at the commit level.
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t rail_losses() const { return rail_losses_; }
  dataplane::inproc::FabricCounts fabric_counts() const { return fabric_->counts(); }
  bool slots_returned() const { return ring_->free_slots() == ring_->slots(); }

 private:
  using Rails = std::vector<std::unique_ptr<dataplane::Transport>>;

  Rails MakeRails(const std::string& node);
  services::session::ClientSessionSettings ClientSettings();
  void OnChange(dataplane::Executor& executor, const services::session::Snapshot& snapshot);
  services::session::TransferEnd WorkerEnd();
  void PlanRailLoss(dataplane::Executor& executor);
  void PlanOutages(dataplane::Executor& executor);

  const Scenario scenario_;
  services::session::SessionHost& host_;
  World world_;
  std::shared_ptr<dataplane::inproc::Fabric> fabric_;
  ControlPair control_;
  Rails worker_rails_;
  Rails node_rails_;
  std::shared_ptr<dataplane::MemoryPool> ring_;
  services::session::Snapshot result_;
  bool server_ended_ = false;
  std::set<uint64_t> good_;
  uint64_t acknowledged_ = 0;
  uint64_t rail_losses_ = 0;
};

}  // namespace tapedeck::sim
