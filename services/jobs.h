// The seam between the pipeline handlers and the GPU worker, in plain values. Field meanings and
// errors are those of tapedeck/v1/pipeline.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/transfer/counters.h"
#include "dataplane/transport/transport.h"
#include "services/session/messages.h"
#include "services/stage_spec.h"

namespace tapedeck::services {

// What record and playback share. `slots` 0: the worker chooses.
struct TransferSpec {
  std::string storage;                // HOST:PORT
  std::string target;                 // name of the channel (record) or recording (playback)
  std::vector<StageSpec> transforms;  // in this order
  std::vector<std::string> rails;     // empty: those nearest to the memory
  uint32_t slots = 0;
  std::optional<dataplane::TransferOp> op;
  std::string request_id;
};

struct RecordSpec {
  TransferSpec transfer;
  StageSpec source;
  uint64_t blocks = 0;      // 0: no such limit
  int64_t duration_ns = 0;  // 0: no such limit
};

struct PlaybackSpec {
  TransferSpec transfer;
  StageSpec sink;
  session::Playhead playhead;
};

enum class JobState { kStarting = 1, kRunning = 2, kSucceeded = 3, kFailed = 4, kCancelled = 5 };

struct Job {
  std::string name;  // jobs/{job}
  session::Direction direction = session::Direction::kRecord;
  JobState state = JobState::kStarting;
  std::string recording;
  std::string device;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t total_blocks = 0;
  int64_t elapsed_ns = 0;
  uint64_t lost_blocks = 0;
  dataplane::Counters counters;
  std::vector<session::RailProgress> rails;
  absl::Status error;         // with its reason; OK unless failed or cancelled
  int64_t start_time_ns = 0;  // UTC
  int64_t end_time_ns = 0;    // 0 while it runs
  std::vector<std::string> notes;
};

// Any thread; no call waits for a transfer.
class Jobs {
 public:
  virtual ~Jobs() = default;
  virtual absl::StatusOr<Job> StartRecord(const RecordSpec& spec) = 0;
  virtual absl::StatusOr<Job> StartPlayback(const PlaybackSpec& spec) = 0;
  virtual absl::StatusOr<Job> GetJob(const std::string& name) = 0;
  virtual std::vector<Job> ListJobs() = 0;  // newest first
  virtual absl::StatusOr<Job> CancelJob(const std::string& name) = 0;
};

}  // namespace tapedeck::services
