// The page of a node: what both nodes show, and what the node adds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dataplane/block/flow.h"
#include "dataplane/transport/transport.h"
#include "services/base/trace/span_queue.h"
#include "services/model/seams/node.h"
#include "services/observe/telemetry/page.h"

namespace tapedeck::services::telemetry {

struct NodePageSettings {
  NodeRole role = NodeRole::kStorage;
  std::vector<dataplane::Transport*> rails;  // outlive the page
  std::vector<NodeRail> places;              // of these
  const trace::SpanQueue* spans = nullptr;   // outlives the page; null: tracing is off
  std::string proc = "/proc";
  std::string sysfs = "/sys";
};

// Immutable: any thread.
class NodePage {
 public:
  explicit NodePage(NodePageSettings settings);

  // `add` does not wait.
  std::string Make(const std::function<void(Page&)>& add) const;

 private:
  void AddRails(Page& page) const;

  const NodePageSettings settings_;
  const double start_;  // of the process, in seconds since the Unix epoch
};

// What the system tells of the ports of rails: whether there is a link, the card's temperature, and
// the RDMA hardware's counters, which are the only sign of a mistake in PFC or ECN. `device` is an
// RDMA port, "mlx5_0/1", or a network interface, "eth0". What cannot be read in
// `sysfs`, "/sys", is left out.
void AddPort(Page& page, const std::string& rail, const std::string& device,
             const std::string& sysfs);

// What the process itself uses, as every Prometheus client tells it: when it started, in seconds
// since the Unix epoch, as `now` is. Asked once: it is not exact.
double ProcessStart(const std::string& proc, double now);

// All but that. What cannot be read in `proc`, "/proc", is left out.
void AddProcess(Page& page, const std::string& proc);

// What both nodes tell of their sessions, by direction.
void AddTransfers(Page& page, dataplane::Direction direction, const NodeStats& stats);

}  // namespace tapedeck::services::telemetry
