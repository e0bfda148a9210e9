// The page of a node: what both nodes show, and what the node adds.
#pragma once

#include <functional>
#include <string>
#include <vector>

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

}  // namespace tapedeck::services::telemetry
