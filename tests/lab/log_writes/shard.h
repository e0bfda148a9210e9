// A share of the replay in a process of its own. A mount of its own belongs to a thread and those
// that it makes (unshare(2)); the node's threads are made by one that serves the whole process.
#pragma once

#include <sys/types.h>

#include <functional>

#include "absl/status/statusor.h"
#include "tests/lab/log_writes/replay.h"

namespace tapedeck::lab {

// One thread. To be started before the process has others.
class Shard {
 public:
  // `run` is called in the child, which prints to the same outputs.
  static absl::StatusOr<Shard> Start(const std::function<absl::StatusOr<ReplayCounts>()>& run);

  // Waits for its end, as long as it takes.
  absl::StatusOr<ReplayCounts> Wait() const;

 private:
  Shard(pid_t child, int counts) : child_(child), counts_(counts) {}

  pid_t child_;
  int counts_;  // the reading end of a pipe
};

}  // namespace tapedeck::lab
