// Unexplained steps of the machine's clock, for code that uses a recording's age. A clock that goes
// ahead by years makes each recording look too old.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/clock.h"

namespace tapedeck::storage_node::recordings {

// What a limit of age goes by. UTC nanoseconds.
struct AgeBase {
  int64_t max_age_ns = 0;  // the limit that it was made for
  int64_t now_ns = 0;
  // A recording that ended before counts as ended then.
  int64_t since_ns = 0;

  // The age of one that ended at `end_ns`.
  int64_t Of(int64_t end_ns) const { return now_ns - std::max(end_ns, since_ns); }
};

// Compares the machine's clock with the steady one while the node runs, and with the last time that
// it noted in its state directory when it starts. A node without such a note has lost its state, or
// is new: it believes no time before its start. Any thread; Save() waits for the disk.
class ClockSteps {
 public:
  ClockSteps(std::string state_dir, const dataplane::Clock& clock);

  // Looks at both clocks, at least once a second; the log names a step ahead of a minute or more.
  void Look();
  // Notes the time, every ten minutes, and each step soon. STATE_UNUSABLE.
  absl::Status Save();

  // For recordings that live so long, as of the last look. `since_ns` is the last step since whose
  // beginning the clock has gone ahead by more than half of that in all, 0 if it has not.
  AgeBase Of(int64_t max_age_ns) const;

 private:
  struct Step {
    int64_t at_ns = 0;  // the time after it
    int64_t by_ns = 0;
  };

  static int64_t Sum(const Step& a, const Step& b);
  void Read();
  void Add(Step step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write();

  const std::string state_dir_;
  const dataplane::Clock& clock_;
  mutable absl::Mutex mutex_;
  int64_t seen_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t seen_steady_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t saved_steady_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  bool looked_ ABSL_GUARDED_BY(mutex_) = false;
  bool changed_ ABSL_GUARDED_BY(mutex_) = true;
  int64_t small_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // steps that are none yet, together
  std::vector<Step> steps_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::recordings
