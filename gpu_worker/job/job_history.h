// The jobs of a worker in a file of its state directory, so that after a restart they are listed
// and their numbers are not given again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/clock.h"
#include "services/base/threads/task_thread.h"
#include "services/model/seams/jobs.h"

namespace tapedeck::gpu_worker::job {

// What the file has.
struct PastJobs {
  uint64_t number = 0;              // no job of a later run has it, nor a lower one
  std::vector<services::Job> jobs;  // newest first; all have ended
};

// Owned by the worker, which closes it before it goes. Any thread, except where said. With no
// directory it keeps nothing, and says so in the log.
class JobHistory {
 public:
  // The newest are kept.
  static constexpr size_t kKept = 200;
  static constexpr uint64_t kMaxFileBytes = 16 << 20;
  // Jobs that may begin until the file is written; after a crash so many numbers are left out.
  static constexpr uint64_t kAhead = 64;
  // What jobs have done is written no more often; a worker that is killed forgets so much of it.
  static constexpr int64_t kProgressNs = dataplane::kSecondNs;

  // Makes the directory, if it is not there, and reads. A file that cannot be read is renamed to
  // NAME.unreadable-TIME, which the log says; then numbers go on from the time, in seconds. If the
  // directory cannot be used, the log says so, and nothing is kept.
  static std::unique_ptr<JobHistory> Open(const std::string& directory, services::JobCodec codec);
  ~JobHistory() { Close(); }

  // Of earlier runs.
  const PastJobs& past() const { return past_; }

  // Where the file gets its jobs, until Close: before any job begins. Writes; waits.
  void Watch(std::function<PastJobs()> look);

  // Writes soon, on a thread of its own.
  void Changed() ABSL_LOCKS_EXCLUDED(mutex_);

  // The same within kProgressNs, of what jobs have done while they run. May be told for each block.
  void Progressed() ABSL_LOCKS_EXCLUDED(mutex_);

  // Writes what there is, once no job begins any more. Waits.
  void Close();

 private:
  JobHistory(std::string path, services::JobCodec codec)
      : path_(std::move(path)), codec_(std::move(codec)) {}

  absl::StatusOr<PastJobs> Read() const;
  void KeepAside(const absl::Status& why);
  void Write(uint64_t ahead) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WriteFile(const PastJobs& now) const;

  const std::string path_;  // empty: nothing is kept
  const services::JobCodec codec_;
  PastJobs past_;
  std::function<PastJobs()> look_;

  const dataplane::SystemClock clock_;
  std::atomic<int64_t> progress_due_ns_ = 0;  // by the steady clock
  absl::Mutex mutex_;
  bool waits_ ABSL_GUARDED_BY(mutex_) = false;  // a look is still to be taken

  bool failed_ = false;                           // the last write; writing thread
  std::unique_ptr<services::TaskThread> thread_;  // null: nothing is written
};

}  // namespace tapedeck::gpu_worker::job
