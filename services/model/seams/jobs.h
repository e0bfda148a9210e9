// The seam between the pipeline handlers and the GPU worker, in plain values. Field meanings and
// errors are those of tapedeck/v1/pipeline.proto.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/model/job.h"
#include "services/model/job_spec.h"

namespace tapedeck::services {

// kStop: as its limit would end it.
enum class JobEnd { kCancel, kStop };

// How a job is kept. Any thread.
struct JobCodec {
  std::function<std::string(const Job&)> encode;
  std::function<absl::StatusOr<Job>(const std::string&)> decode;
};

// Any thread; no call waits for a transfer.
class Jobs {
 public:
  virtual ~Jobs() = default;
  virtual absl::StatusOr<Job> StartRecord(const RecordSpec& spec) = 0;
  virtual absl::StatusOr<Job> StartPlayback(const PlaybackSpec& spec) = 0;
  virtual absl::StatusOr<Job> GetJob(const std::string& name) = 0;
  virtual std::vector<Job> ListJobs() = 0;  // newest first
  virtual absl::StatusOr<Job> EndJob(const std::string& name, JobEnd how) = 0;

  absl::StatusOr<Job> CancelJob(const std::string& name) { return EndJob(name, JobEnd::kCancel); }
  absl::StatusOr<Job> StopJob(const std::string& name) { return EndJob(name, JobEnd::kStop); }
};

}  // namespace tapedeck::services
