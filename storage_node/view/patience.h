// A thread's wait for a recording's files, which ends in time, whatever the disk does.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "storage_node/recording/caller_loop.h"

namespace tapedeck::storage_node::view {

// Of one thread. The files that live on its loop go before it.
class Patience {
 public:
  // From now on for so long. `lun` is for the error.
  Patience(const dataplane::Clock& clock, absl::Duration limit, std::string lun);

  dataplane::Executor& executor() { return loop_; }

  // Runs what is posted until `done` says so. DEADLINE_EXCEEDED (LUN_NOT_RESPONDING) if that is not
  // in time: then what was begun is still under way.
  absl::Status Await(absl::FunctionRef<bool()> done);

 private:
  const std::string lun_;
  recording::CallerLoop loop_;
  bool late_ = false;
};

}  // namespace tapedeck::storage_node::view
