// From jobs that were started to what is printed of them: the progress, Ctrl-C, the result and the
// exit status. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/deadline.h"
#include "services/rpc/client/jobs_client.h"
#include "services/tapectl/program/program.h"
#include "services/tapectl/terminal/interrupt.h"

namespace tapedeck::services::tapectl {

// The jobs that were started together with `first`, that one first, in their order.
absl::StatusOr<std::vector<Job>> GroupOf(client::JobsClient& jobs, const Job& first);

// What becomes of jobs when their follower has no more patience.
enum class Impatience { kStop, kCancel, kLeave };

// Follows the jobs to their ends, one after the other, while all of them run. With kCancel Ctrl-C
// cancels all, and so does the end of --timeout. With kStop a first Ctrl-C ends live sources well,
// and a second one cancels. With kLeave both leave them running, and Ctrl-C is the
// InterruptWatch's own.
absl::StatusOr<std::vector<Job>> Follow(const Program& program, InterruptWatch& interrupt,
                                        client::JobsClient& jobs, const std::vector<Job>& started,
                                        Impatience impatience);

// "tapectl jobs stop jobs/j ends a live source well, tapectl jobs cancel jobs/j ends any job at
// once"
std::string WaysToEnd(const std::string& job);

// Prints jobs that go on without a follower, and how to get at them.
void Leave(const Program& program, const std::vector<Job>& started);

// Prints the results, of a group as a list, whether the jobs succeeded or not: they say what was
// done. Answers why one of them has not: of several such the first that failed, else the first that
// was cancelled.
absl::Status Conclude(Program& program, const std::vector<Job>& jobs);

// As JobsClient::WatchJob. A worker that is stopped, or whose network is away, is asked again until
// it has been silent for as long as a call waits. UNAVAILABLE then, and at once if nothing listens
// at its address: the text says that the job may go on, and how to follow it.
absl::StatusOr<Job> WatchToEnd(const Program& program, client::JobsClient& jobs,
                               const std::string& name, dataplane::Deadline deadline,
                               const std::function<void(const Job&)>& report);

}  // namespace tapedeck::services::tapectl
