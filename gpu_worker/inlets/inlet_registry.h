// The inlets of a worker that are open: where sessions of other workers come to the jobs that wait
// for them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"
#include "services/base/threads/task_thread.h"
#include "services/model/seams/inlets.h"
#include "services/session/serving/host.h"

namespace tapedeck::gpu_worker::inlets {

inline constexpr size_t kMaxInlets = 64;

// Makes what a stream goes to; called once, on a thread that may wait. What it gives lives on the
// session's executor.
using MakeAdmission =
    std::function<absl::StatusOr<services::session::Admission>(const services::session::Open&)>;

// Any thread. Outlives the sessions, and the jobs whose inlets are open.
class InletRegistry final : public services::session::SessionHost {
 public:
  // RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<InletRegistry>> Create();

  // ALREADY_EXISTS (INLET_BUSY); RESOURCE_EXHAUSTED (LIMIT_REACHED) beyond kMaxInlets.
  absl::Status Open(const services::Inlet& inlet, MakeAdmission make) ABSL_LOCKS_EXCLUDED(mutex_);
  // No stream comes any more; one that has come goes on.
  void Close(const std::string& name) ABSL_LOCKS_EXCLUDED(mutex_);

  // NOT_FOUND (INLET_NOT_FOUND).
  absl::StatusOr<services::Inlet> Get(const std::string& name) const ABSL_LOCKS_EXCLUDED(mutex_);

  // One stream for each inlet: FAILED_PRECONDITION (INLET_BUSY) for another one.
  void Admit(const services::session::Open& open, dataplane::Executor& executor,
             std::shared_ptr<services::session::AdmissionWatch> watch,
             services::session::OnAdmitted admitted) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    services::Inlet inlet;
    MakeAdmission make;  // null: a stream has come
  };

  explicit InletRegistry(std::unique_ptr<services::TaskThread> thread)
      : thread_(std::move(thread)) {}

  // What makes the end of the stream that comes.
  absl::StatusOr<MakeAdmission> Take(const services::session::Open& open)
      ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  std::map<std::string, Entry> inlets_ ABSL_GUARDED_BY(mutex_);
  // Opens what streams go to. The last: what its tasks use goes after it.
  const std::unique_ptr<services::TaskThread> thread_;
};

}  // namespace tapedeck::gpu_worker::inlets
