// An executor on the thread that calls it, for work that may wait: recovery at start, verification,
// rebuilding the catalog. With a memory store it never really waits, so it also runs inside a
// simulation.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::storage_node::recording {

// Post from any thread; the rest by its owner.
class CallerLoop final : public dataplane::Executor {
 public:
  explicit CallerLoop(const dataplane::Clock& clock) : clock_(clock) {}

  void Post(dataplane::Task task) override;
  void PostAt(int64_t deadline_ns, dataplane::Task task) override;
  const dataplane::Clock& clock() const override { return clock_; }

  // Runs tasks until `done` says so.
  void RunUntil(absl::FunctionRef<bool()> done);

 private:
  dataplane::Task Next();

  const dataplane::Clock& clock_;
  absl::Mutex mutex_;
  std::deque<dataplane::Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::multimap<int64_t, dataplane::Task> timers_ ABSL_GUARDED_BY(mutex_);
};

// Starts an operation by start(callback) and runs `loop` until the callback has been called.
//   absl::Status s = Await<absl::Status>(loop, [&](auto done) { files.Flush(std::move(done)); });
template <typename Result, typename Start>
Result Await(CallerLoop& loop, Start start) {
  std::optional<Result> result;
  start([&result](Result r) { result.emplace(std::move(r)); });
  loop.RunUntil([&result] { return result.has_value(); });
  return *std::move(result);
}

}  // namespace tapedeck::storage_node::recording
