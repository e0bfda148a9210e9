// Where `tapectl trace` gets stamps from: both nodes, or dumps.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/observe/flight/trace.h"
#include "services/observe/timeline/timeline.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {

struct TraceSource {
  timeline::NodeTrace node;
  absl::Status status;  // of asking it
};

// What `request` names, of the worker and then of the storage nodes that its sessions are of. The
// worker's clock is the first. Fails where neither knows anything.
absl::StatusOr<std::vector<TraceSource>> TraceNodes(const Program& program,
                                                    const flight::TraceRequest& request);

// A dump by its name on either node, or a file of this machine by its path, with a slash.
absl::StatusOr<TraceSource> TraceDump(const Program& program, const std::string& dump);

}  // namespace tapedeck::services::tapectl
