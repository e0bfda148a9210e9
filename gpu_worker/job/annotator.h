// Writes what the stages of a recording job remark into its recording, as soon as they do: what a
// remark is about may be on the disk already, and the worker may be killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "gpu_worker/stages/remarks.h"
#include "services/storage.h"
#include "services/threads/task_thread.h"

namespace tapedeck::gpu_worker::job {

// Any thread; owned by its job. The calls are made on a thread of its own, since they wait for the
// storage node. While that is away, or has no segment yet for a sample, they wait for the session
// to go on. What belongs to a segment that is gone is left out and counted. After the first call
// that fails otherwise no other is made.
class Annotator {
 public:
  // `storage` outlives it. RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<Annotator>> Create(std::shared_ptr<stages::Remarks> remarks,
                                                           services::StorageClient& storage);
  // Waits for the call under way.
  ~Annotator();

  // A session runs into that recording, which stays the same; may be said again and again.
  void SessionRuns(const std::string& recording);

  // The session has ended: writes what there still is, for half a minute at most, and calls `done`
  // on its thread with the first failure, and how many were left out.
  void Finish(std::function<void(const absl::Status& annotated, uint64_t left_out)> done);

 private:
  Annotator(std::shared_ptr<stages::Remarks> remarks, services::StorageClient& storage,
            std::shared_ptr<services::TaskQueue> tasks,
            std::unique_ptr<services::TaskThread> thread)
      : remarks_(std::move(remarks)),
        storage_(storage),
        tasks_(std::move(tasks)),
        thread_(std::move(thread)) {}

  // Its thread.
  void Write(stages::Remarks::Which which, dataplane::Deadline deadline);
  // The next ones. With `all` what no segment has yet is left out, too.
  absl::Status WriteSome(const std::string& recording, bool all, dataplane::Deadline deadline);

  const std::shared_ptr<stages::Remarks> remarks_;
  services::StorageClient& storage_;
  const std::shared_ptr<services::TaskQueue> tasks_;

  absl::Mutex mutex_;
  std::string recording_ ABSL_GUARDED_BY(mutex_);  // empty: not known yet
  bool behind_ ABSL_GUARDED_BY(mutex_) = false;    // some wait for the storage node to be back

  // Its thread only.
  std::deque<services::Annotation> waiting_;  // bounded by what remarks there may be
  // The next call has so many at most.
  size_t at_once_ = services::model::kMaxAnnotationsAtOnce;
  uint64_t left_out_ = 0;
  absl::Status status_;

  // The last: what tasks use is destroyed after it has ended.
  const std::unique_ptr<services::TaskThread> thread_;
};

}  // namespace tapedeck::gpu_worker::job
