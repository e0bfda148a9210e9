// What the storage nodes of a job have of its channel or recording, before it begins.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gpu_worker/job/job_environment.h"
#include "services/model/seams/catalog.h"
#include "services/model/words/note.h"

namespace tapedeck::gpu_worker::job {

struct FoundPart {
  JobNode node;
  services::Recording recording;
  std::string name;  // "part 2 of 3"; empty: it is whole
};

struct FoundParts {
  std::vector<FoundPart> parts;  // at least one, in order
  services::Notes notes;         // which parts are missing, and why

  bool in_parts() const { return !parts.front().name.empty(); }
};

// Waits for the node. Its errors, and INVALID_ARGUMENT (PROTOCOL_VIOLATION).
absl::StatusOr<services::Channel> ChannelOf(const JobNode& node, const std::string& name);

// The same of several, all asked at once, which must have it alike: FAILED_PRECONDITION
// (CHANNEL_IN_USE). Those that do not answer, or say what may pass, are away as long as another one
// is there; any other error is one of the whole. Waits for at most as long as `storage` does.
absl::StatusOr<services::Channel> ChannelOfAll(std::vector<JobNode>& nodes,
                                               const std::string& name);

// The first that is not away.
const JobNode& FirstThere(const std::vector<JobNode>& nodes);

// A recording that is whole is played by the first node that has it. What says that it is a part is
// joined with the others that the nodes have under its name; which of them are not there is noted.
// One that was moved within its node has the name that it has now. The first node is
// asked first, then the others at once. The first error where no node has it.
absl::StatusOr<FoundParts> FindParts(const std::vector<JobNode>& nodes, const std::string& name);

}  // namespace tapedeck::gpu_worker::job
