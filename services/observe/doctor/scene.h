// What the checks of a machine look at: its rails, and the files in which the system tells of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/topology/interfaces.h"
#include "dataplane/transport/transport.h"
#include "services/model/seams/node.h"
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

}  // namespace tapedeck::services::doctor
