// An Executor is a run queue owned by one thread. An object of the data path lives on exactly one:
// it is created, called and destroyed there, so it needs no lock.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "dataplane/clock.h"

namespace tapedeck::dataplane {

using Task = absl::AnyInvocable<void()>;

class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `task` later on the owning thread, never inline, in the order posted. Any thread.
  // Tasks still queued when the executor ends are destroyed unrun.
  virtual void Post(Task task) = 0;

  // Runs `task` once clock().NowNs() >= deadline_ns. Any thread.
  virtual void PostAt(int64_t deadline_ns, Task task) = 0;

  // Runs `task` once what is being done now, and has been posted before, is done: for what many
  // steps need once. On the owning thread.
  virtual void AtEndOfTurn(Task task) { Post(std::move(task)); }

  virtual const Clock& clock() const = 0;

  void PostAfter(int64_t delay_ns, Task task) {
    PostAt(clock().NowNs() + delay_ns, std::move(task));
  }
};

}  // namespace tapedeck::dataplane
