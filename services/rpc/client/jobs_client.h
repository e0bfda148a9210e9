// A GPU worker's jobs, from afar and in plain values.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/jobs.h"
#include "services/rpc/client/calls/service_client.h"

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for `time`.
class JobsClient final : public ServiceClient {
 public:
  JobsClient(const Channel& channel, const CallTime& time)
      : ServiceClient(channel, time, "tapedeck.v1.PipelineService") {}

  // A spec without request_id gets one.
  absl::StatusOr<Job> StartRecord(const RecordSpec& spec);
  absl::StatusOr<Job> StartPlayback(const PlaybackSpec& spec);
  absl::StatusOr<Job> GetJob(const std::string& name);
  absl::StatusOr<std::vector<Job>> ListJobs();
  absl::StatusOr<Job> CancelJob(const std::string& name);
  absl::StatusOr<Job> StopJob(const std::string& name);

  // Follows the job to its end and returns it as it is then; `report` sees each change.
  absl::StatusOr<Job> WatchJob(const std::string& name, absl::Duration timeout,
                               const std::function<void(const Job&)>& report);
};

}  // namespace tapedeck::services::client
