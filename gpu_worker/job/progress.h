// How much is done of what a job was asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gpu_worker/pace/plan.h"
#include "services/model/seams/jobs.h"
#include "services/session/opening/client_session.h"

namespace tapedeck::gpu_worker::job {

// What a job was asked for; nothing of it: its end is unknown.
struct Goal {
  uint64_t blocks = 0;             // 0: by none of its own
  bool told = false;               // the session tells the blocks
  int64_t duration_ns = 0;         // 0: no time
  std::function<int64_t()> began;  // of a duration: when it began, by the clock; 0: not yet
  uint64_t turns = 0;              // of a loop
};

// Of a playback of blocks of so many samples each.
Goal GoalOf(const std::optional<pace::Plan>& pace, uint64_t block_samples);

// The blocks that the job will have; `told` is what its session says, 0: nothing.
std::optional<uint64_t> TotalOf(const Goal& goal, uint64_t told);

// 0 to 1, of a job whose other members are as they are now.
std::optional<double> ProgressOf(const Goal& goal, const services::Job& job, int64_t now_ns);

// Where a job stands that was at `state` and whose session has not ended. Progress is that of the
// memory while it is PREPARING.
services::JobState StateOf(const services::session::Snapshot& snapshot, services::JobState state);

// For how long a job has had no session, after one that was lost. One thread at a time.
class AwayTime {
 public:
  void See(bool away, int64_t now_ns);
  // For the job; none: it was never away.
  std::optional<services::Note> Note() const;

 private:
  int64_t away_ns_ = 0;
  std::optional<int64_t> since_ns_;
};

}  // namespace tapedeck::gpu_worker::job
