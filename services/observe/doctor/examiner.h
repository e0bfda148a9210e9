// The doctor of one node: runs its checks, each on a thread, and never waits longer than it says,
// whatever a disk or a device does.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/base/threads/thread_pool.h"
#include "services/observe/doctor/checks.h"

namespace tapedeck::services::doctor {

inline constexpr absl::Duration kPatience = absl::Seconds(10);
inline constexpr absl::Duration kMeasuringPatience = absl::Seconds(60);

struct ExaminerParts {
  std::shared_ptr<const Scene> scene;          // set
  std::function<std::vector<Check>()> others;  // beside those of every machine; may be null
  absl::Duration patience = kPatience;
  absl::Duration measuring_patience = kMeasuringPatience;
};

// Owned by main; destroyed after the server, before what the checks look at. The destructor waits
// for checks under way. Any thread.
class Examiner final : public Doctor {
 public:
  explicit Examiner(ExaminerParts parts) : parts_(std::move(parts)) {}
  ~Examiner() override { Stop(); }

  absl::StatusOr<Diagnosis> Examine(const Request& request) override ABSL_LOCKS_EXCLUDED(mutex_);

  // Those who wait get what there is; checks that have not begun never do.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Of one examination. Shared with checks that do not end in time.
  struct Round {
    Request request;
    std::vector<Check> checks;
    std::vector<Findings> found;  // of each check
    std::vector<bool> ended;
    size_t left = 0;
  };

  void Begin(const std::shared_ptr<Round>& round, size_t number) ABSL_LOCKS_EXCLUDED(mutex_);
  void Run(Round& round, size_t number) ABSL_LOCKS_EXCLUDED(mutex_);

  const ExaminerParts parts_;
  absl::Mutex mutex_;  // also of all rounds
  bool examining_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<std::string> under_way_ ABSL_GUARDED_BY(mutex_);  // checks, also of earlier rounds
  // One that hangs keeps a thread; a second of its name does not begin.
  ThreadPool threads_{"doctor", "checks", 16, 1024};
};

}  // namespace tapedeck::services::doctor
