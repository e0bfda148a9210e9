// The jobs of a group, each at its worker: started together, followed together, and ended one by
// one. One thread calls; each member has a thread of its own meanwhile.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/model/recording/group.h"
#include "services/model/seams/jobs.h"
#include "services/tapectl/jobs/group_names.h"
#include "services/tapectl/jobs/job_options.h"
#include "services/tapectl/program/program.h"
#include "services/tapectl/terminal/interrupt.h"

namespace tapedeck::services::tapectl {

// What `record --group` or `play --group` was told.
struct GroupOptions {
  std::string name;  // empty: no group
  int64_t start_in_ns = 2'000'000'000;
  std::vector<std::string> members;  // of kMemberForm; to play, of kPlayerForm
};

// One job for each member, with all that `spec` says and the member does not. A member that cannot
// begin, or fails, ends no other: the answer has all of them, and the error names the first.
absl::Status RecordGroup(Program& program, InterruptWatch& interrupt, const GroupOptions& group,
                         const JobOptions& options, RecordSpec spec);

// The same of a group that was recorded, by the worker of --worker, or by those that
// `group.members` name: each job gives sample `spec.playhead` at the same instant, by its worker's
// clock.
absl::Status PlayGroup(Program& program, InterruptWatch& interrupt, const GroupOptions& group,
                       const JobOptions& options, PlaybackSpec spec);

}  // namespace tapedeck::services::tapectl
