// Workers and storage nodes, with the product's own code between a worker's stream and a node's
// drives: dealing, sessions, rails, transfer, and the writer of recordings. Modelled are the ports,
// the drives and the time: it is virtual. Processors are not modelled: they take no time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "services/session/parts/dealt_recording.h"
#include "services/session/serving/server_session.h"
#include "tests/sim/control_pair.h"
#include "tests/sim/site/modelled_drives.h"
#include "tests/sim/site/ports.h"
#include "tests/sim/site/resume_host.h"
#include "tests/sim/world.h"

namespace tapedeck::sim {

// A block is one of 1 MiB for sessions, ports and drives, and of these bytes in memory and on disk.
inline constexpr uint64_t kModelledBlockBytes = 1 << 20;
inline constexpr uint64_t kHeldBlockBytes = 512;
inline constexpr uint64_t kModelledSamples = 100;  // as PatternSource counts them
inline constexpr size_t kModelledPorts = 2;        // of each machine, a rail on each

// So many slots of kModelledBlockBytes, of which only what is used takes memory.
std::shared_ptr<dataplane::SlotPool> NewModelledRing(size_t slots);

// A machine's ports, and the rails on them.
class Machine {
 public:
  Machine(World& world, Ports& ports, const std::string& name);

  std::vector<dataplane::Transport*> transports() const;
  const Port& port(size_t number) const { return ports_[number]; }
  void Freeze(bool frozen);

 private:
  std::vector<VirtualExecutor*> pollers_;
  std::deque<Port> ports_;
  std::vector<std::unique_ptr<dataplane::Transport>> rails_;
};

// One thread. Destroyed after the workers.
class ModelledNode final : public services::session::SessionHost {
 public:
  ModelledNode(World& world, Ports& ports, size_t number, size_t channels,
               const DriveFigures& figures);

  // Channel i is "c<i>", with one recording at most.
  void Admit(const services::session::Open& open, dataplane::Executor& executor,
             std::shared_ptr<services::session::AdmissionWatch> watch,
             services::session::OnAdmitted admitted) override;

  std::unique_ptr<services::session::ControlStream> Dial();
  // The process ends, perhaps with the power.
  void Die(bool power_cut);
  void ComeBack();
  // The process is stopped, or goes on.
  void Freeze(bool frozen);
  bool up() const { return up_; }
  bool at_rest() const;  // no session is left

  // Blocks of the stream that the channel's recording has, in its own order, closed and played. A
  // wrong byte fails the test.
  std::vector<uint64_t> Recorded(size_t channel);

  const Machine& machine() const { return machine_; }
  const ModelledDrives& drives() const { return drives_; }

 private:
  struct Served {
    std::unique_ptr<services::session::ServerSession> session;
    std::shared_ptr<ControlEnd::State> worker_end;
    bool ended = false;
  };

  World& world_;
  VirtualExecutor& executor_;
  Machine machine_;
  FaultDisk disk_;
  ModelledDrives drives_;
  std::vector<std::unique_ptr<ResumeHost>> channels_;
  std::vector<std::unique_ptr<Served>> sessions_;
  bool up_ = true;
};

struct WorkerStream {
  uint64_t blocks = UINT64_MAX;
  int64_t period_ns = 0;           // of a block that cannot wait; 0: as fast as there is room
  size_t slots = 128;              // of the ring
  uint32_t copies = 1;             // of each block, on nodes of their own
  std::vector<size_t> nodes = {};  // empty: all
};

// One recording over several nodes. One thread.
class ModelledWorker {
 public:
  ModelledWorker(World& world, Ports& ports, size_t number, std::vector<ModelledNode*> nodes,
                 const WorkerStream& stream);

  void Start();

  // Every node has admitted its part.
  bool all_run() const { return accepted_ >= parts_ && result_.running; }
  const services::session::Snapshot& result() const { return result_; }
  // Blocks of the stream; all below were acknowledged.
  uint64_t watermark() const { return watermark_; }
  // Blocks with payload that were acknowledged, in any order.
  uint64_t acknowledged() const { return recording_->dealer().counts().bytes / kHeldBlockBytes; }
  const services::parts::DealCounts& counts() const { return recording_->dealer().counts(); }
  const std::set<uint64_t>& lost() const { return lost_; }  // no slot was free for them
  const services::Notes& notes() const { return notes_; }
  const Machine& machine() const { return machine_; }

 private:
  services::parts::DealtSettings Settings(std::vector<ModelledNode*> nodes);
  services::session::TransferEnd End();

  dataplane::Executor& executor_;
  const size_t number_;
  Machine machine_;
  const WorkerStream stream_;
  std::shared_ptr<dataplane::SlotPool> ring_;
  services::session::Snapshot result_;
  const size_t parts_;
  size_t accepted_ = 0;
  uint64_t watermark_ = 0;
  std::set<uint64_t> lost_;
  services::Notes notes_;
  std::unique_ptr<services::parts::DealtRecording> recording_;
};

// All of them.
struct SiteFigures {
  uint64_t seed = 1;
  std::vector<WorkerStream> workers;
  std::vector<DriveFigures> nodes;
};

class Site {
 public:
  explicit Site(const SiteFigures& figures);
  ~Site();

  void Start();
  // Until all parts of all workers have begun.
  bool Begin();
  // False: virtual time passed `limit_ns` first.
  bool RunUntil(const std::function<bool()>& done, int64_t limit_ns);
  void RunFor(int64_t ns);
  bool ended() const;  // all workers
  // Blocks that were acknowledged to all workers.
  uint64_t acknowledged() const;
  double seconds() const { return static_cast<double>(world_.clock().now_ns) / 1e9; }

  World& world() { return world_; }
  dataplane::Executor& fate() { return fate_; }
  ModelledNode& node(size_t number) { return *nodes_[number]; }
  ModelledWorker& worker(size_t number) { return *workers_[number]; }
  size_t nodes() const { return nodes_.size(); }
  size_t workers() const { return workers_.size(); }

 private:
  World world_;
  Ports ports_;
  dataplane::Executor& fate_;
  std::vector<std::unique_ptr<ModelledNode>> nodes_;
  std::vector<std::unique_ptr<ModelledWorker>> workers_;
};

}  // namespace tapedeck::sim
