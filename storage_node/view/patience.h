// A thread's wait for a recording's files, which ends in time, whatever the disk does.
#pragma once

#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "services/base/errors.h"
#include "storage_node/recording/caller_loop.h"

namespace tapedeck::storage_node::view {

// Of one thread. The files that live on its loop go before it.
class Patience {
 public:
  // From now on for so long. `lun` is for the error.
  Patience(const dataplane::Clock& clock, absl::Duration limit, std::string lun)
      : lun_(std::move(lun)), loop_(clock) {
    loop_.PostAt(clock.NowNs() + absl::ToInt64Nanoseconds(limit), [this] { late_ = true; });
  }

  dataplane::Executor& executor() { return loop_; }

  // Runs what is posted until `done` says so. DEADLINE_EXCEEDED (LUN_NOT_RESPONDING) if that is not
  // in time: then what was begun is still under way.
  absl::Status Await(absl::FunctionRef<bool()> done) {
    bool reached = false;
    loop_.RunUntil([&] { return late_ || (reached = done()); });
    if (reached) return absl::OkStatus();
    return services::LunNotResponding(
        lun_, absl::StrCat(lun_, ": its disks have not answered in time; try again"));
  }

 private:
  const std::string lun_;
  recording::CallerLoop loop_;
  bool late_ = false;
};

}  // namespace tapedeck::storage_node::view
