// The production executor: one thread, one epoll set, one timer heap. It sleeps when there is
// nothing to do. On a machine with many processors it first looks around for some microseconds.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/executor.h"

namespace tapedeck::dataplane {

class EventLoop final : public Executor {
 public:
  using OnEvents = std::function<void(uint32_t epoll_events)>;

  // Starts the thread; `name` (at most 15 characters) shows in ps and gdb.
  static absl::StatusOr<std::unique_ptr<EventLoop>> Create(const std::string& name);

  // Stops and joins the thread; destroys queued tasks. Not on the loop's own thread.
  ~EventLoop() override;

  void Post(Task task) override;
  void PostAt(int64_t deadline_ns, Task task) override;
  const Clock& clock() const override { return clock_; }

  // Runs `task` on the loop and waits for it: for set-up and teardown only. Inline on the loop's
  // own thread.
  void RunAndWait(Task task);

  // Loop thread only. `on_events` is called with the ready events until Unwatch; it may unwatch any
  // fd.
  absl::Status Watch(int fd, uint32_t events, OnEvents on_events);
  void Modify(int fd, uint32_t events);
  void Unwatch(int fd);

  // Before the loop sleeps.
  void AtEndOfTurn(Task task) override { end_of_turn_.push_back(std::move(task)); }

 private:
  struct Timer {
    int64_t deadline_ns;
    uint64_t order;
    std::shared_ptr<Task> task;
    bool operator<(const Timer& other) const {
      return std::pair(deadline_ns, order) > std::pair(other.deadline_ns, other.order);
    }
  };

  EventLoop(int epoll_fd, int wake_fd) : epoll_fd_(epoll_fd), wake_fd_(wake_fd) {}
  void Run();
  void RunTasks();
  void RunTimers();
  void RunEndOfTurn();
  int SleepTimeoutMs();
  // As epoll_wait(2).
  int Wait(std::span<epoll_event> events);
  void Poll();
  void Wake();

  const SystemClock clock_;
  const int epoll_fd_;
  const int wake_fd_;
  std::atomic<bool> stop_ = false;

  absl::Mutex mutex_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<Timer> new_timers_ ABSL_GUARDED_BY(mutex_);
  bool asleep_ ABSL_GUARDED_BY(mutex_) = false;

  // Loop thread only.
  std::priority_queue<Timer> timers_;
  uint64_t timer_order_ = 0;
  std::vector<Task> end_of_turn_;
  std::unordered_map<int, std::shared_ptr<OnEvents>> watched_;

  std::thread thread_;
};

}  // namespace tapedeck::dataplane
