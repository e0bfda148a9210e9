// The checks of a machine, and what they look at: its rails, and the files in which the system
// tells of it. To add one: a file, or a function beside its like, and its line here and in list.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/topology/interfaces.h"
#include "dataplane/transport/transport.h"
#include "services/model/seams/node.h"
#include "services/observe/doctor/doctor.h"
#include "services/observe/doctor/finding.h"

namespace tapedeck::services::doctor {

// Memory that the node takes when it is asked for.
struct PromisedMemory {
  std::string what;  // "--follow-memory"
  uint64_t bytes = 0;
};

// Immutable: any thread.
struct Scene {
  std::string root;                          // where /proc and /sys are; empty: the system's
  std::vector<NodeRail> rails;               // of the node
  std::vector<dataplane::Transport*> ports;  // of these, as far as they can be tried; outlive this
  uint64_t ring_bytes = 0;                   // of one session
  std::vector<PromisedMemory> promised;
  std::function<std::string(const std::string& address)> interface_of =
      dataplane::topology::InterfaceOf;
};

// Text of a file below the root, without white space round it; empty if it cannot be read.
std::string TextIn(const Scene& scene, const std::string& path);

// The directory of an RDMA port's files below /sys; empty for a rail over anything else.
std::string RdmaPortOf(const NodeRail& rail);

// The interface that has the rail's address, or that its RDMA port belongs to; empty: none.
std::string InterfaceOf(const Scene& scene, const NodeRail& rail);

// Reads files that lie in memory: does not wait.
RailFacts FactsOf(const Scene& scene, const NodeRail& rail);

// "rail r0 (10.0.0.1, eth0)".
std::string NameOf(const RailFacts& rail);

// Runs on a thread of its own, for as long as what it looks at makes it wait.
struct Check {
  std::string name;                 // "ports", "luns/l0": one at a time of each
  CodeId late = "CHECK_NOT_ENDED";  // what is said where it does not end
  std::function<void(const Request& request, Findings& findings)> run;
};

// Those of every node.
std::vector<Check> MachineChecks(const std::shared_ptr<const Scene>& scene);

void CheckPorts(const Scene& scene, const Request& request, Findings& findings);
void CheckMtus(const Scene& scene, const Request& request, Findings& findings);
void CheckPeers(const Scene& scene, const Request& request, Findings& findings);
void CheckTemperatures(const Scene& scene, const Request& request, Findings& findings);
void CheckRegistration(const Scene& scene, const Request& request, Findings& findings);
void CheckMemory(const Scene& scene, const Request& request, Findings& findings);
void CheckHugePages(const Scene& scene, const Request& request, Findings& findings);
void CheckCrc(const Scene& scene, const Request& request, Findings& findings);

// Whether memory may be locked: network cards and io_uring lock what they work on. Locks so many
// bytes for a moment. RESOURCE_EXHAUSTED says the limit and whether the process may
// pass it. OK also where the machine has not that much memory, which is another matter.
absl::Status TryLock(uint64_t bytes);

// "the limit of locked memory is 65536 bytes, and the process lacks the capability IPC_LOCK".
std::string LockLimits();

}  // namespace tapedeck::services::doctor
