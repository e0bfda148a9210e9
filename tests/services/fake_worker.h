// A GPU worker's jobs and description without a worker, for tests of what lies in front of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "services/model/seams/jobs.h"
#include "services/model/seams/node.h"

namespace tapedeck::services {

// A job moves one block at each look at it and ends after `blocks` of them; channels named
// "endless" go on until cancelled, recordings and channels named "broken" fail. On all devices
// there are two jobs, of which the second fails in a channel named "half". Any thread.
class FakeJobs final : public Jobs {
 public:
  absl::StatusOr<Job> StartRecord(const RecordSpec& spec) override;
  absl::StatusOr<Job> StartPlayback(const PlaybackSpec& spec) override;
  absl::StatusOr<Job> GetJob(const std::string& name) override;
  std::vector<Job> ListJobs() override;
  // Stopped: JOB_NOT_LIVE for a playback, and where the last source was a file.
  absl::StatusOr<Job> EndJob(const std::string& name, JobEnd how) override;

  // One of an earlier run, as it is.
  void Add(const Job& job);

  // From now on a job that is asked to end goes on.
  void EndSlowly();

  TransferSpec last_transfer() const;
  RecordSpec last_record() const;
  PlaybackSpec last_playback() const;

  // A record into a channel named mute waits for this.
  void LetGo();
  int waiting() const;

 private:
  absl::StatusOr<Job> Start(const TransferSpec& spec, dataplane::Direction direction,
                            const std::string& recording, uint64_t blocks,
                            const std::string& group = "",
                            const std::vector<OutputSpec>& outputs = {});

  mutable absl::Mutex mutex_;
  std::map<std::string, Job> jobs_;
  TransferSpec last_transfer_;
  RecordSpec last_record_;
  PlaybackSpec last_playback_;
  bool let_go_ = false;
  bool slow_ = false;
  int waiting_ = 0;
};

class FakeNode final : public NodeDescriber {
 public:
  explicit FakeNode(NodeRole role) : role_(role) {}

  NodeInfo Describe() const override;
  NodeStats Stats() const override;

 private:
  const NodeRole role_;
};

}  // namespace tapedeck::services
