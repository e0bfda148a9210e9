// Follows one job over breaks of the connection to its worker.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/deadline.h"
#include "services/rpc/client/jobs_client.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {

// As JobsClient::WatchJob. A worker that is stopped, or whose network is away, is asked again until
// it has been silent for as long as a call waits. UNAVAILABLE then, and at once if nothing listens
// at its address: the text says that the job may go on, and how to follow it.
absl::StatusOr<Job> WatchToEnd(const Program& program, client::JobsClient& jobs,
                               const std::string& name, dataplane::Deadline deadline,
                               const std::function<void(const Job&)>& report);

}  // namespace tapedeck::services::tapectl
