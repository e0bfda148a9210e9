// Reads the rings of this process, page by page, while they are written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/flight/rings.h"
#include "services/observe/flight/dumps.h"
#include "services/observe/flight/trace.h"
#include "services/observe/flight/trails.h"

namespace tapedeck::services::flight {

// What identifies the process in what is read of it.
struct TraceNode {
  std::string name;
  NodeRole role = NodeRole::kStorage;
};

// Owned by main. Any thread but an executor: it may read for some milliseconds.
class Reader {
 public:
  // All outlive it; `dumps` may be null.
  Reader(TraceNode node, const Trails& trails, dataplane::flight::Rings& rings, Dumps* dumps)
      : node_(std::move(node)), trails_(trails), rings_(rings), dumps_(dumps) {}

  // INVALID_ARGUMENT (ARGUMENT_INVALID) for a token of another listing. Of a session that is not
  // known it is empty. NOT_FOUND: there is no such dump.
  absl::StatusOr<TracePage> Read(const TraceRequest& request) const;

 private:
  std::vector<TrailInfo> TrailsOf(const TraceRequest& request) const;

  const TraceNode node_;
  const Trails& trails_;
  dataplane::flight::Rings& rings_;
  Dumps* const dumps_;
};

}  // namespace tapedeck::services::flight
