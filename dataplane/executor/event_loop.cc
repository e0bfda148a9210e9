#include "dataplane/executor/event_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <thread>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/processors.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane {
namespace {

absl::Status ErrnoStatus(absl::string_view call) {
  return absl::InternalError(absl::StrCat(call, ": ", std::strerror(errno)));
}

// For so long a loop that has nothing to do looks for events before it sleeps: between two pieces
// of a stream it then need not be woken, which takes a virtual machine longer than the piece. Much
// longer would keep others from their processors, as any time does where there are few.
constexpr int64_t kLookNs = 20 * kMicrosecondNs;
constexpr unsigned kManyProcessors = 8;

int64_t LookNs() {
  static const int64_t look_ns = ProcessorsAtStart().threads() < kManyProcessors ? 0 : kLookNs;
  return look_ns;
}

}  // namespace

absl::StatusOr<std::unique_ptr<EventLoop>> EventLoop::Create(const std::string& name) {
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd < 0) return ErrnoStatus("epoll_create1");
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) {
    close(epoll_fd);
    return ErrnoStatus("eventfd");
  }
  auto loop = std::unique_ptr<EventLoop>(new EventLoop(epoll_fd, wake_fd));
  // Its edges alone: what is not reset need not be read.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = wake_fd}};
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &event) != 0) return ErrnoStatus("epoll_ctl");
  TD_ASSIGN_OR_RETURN(loop->thread_, StartThread(name, [raw = loop.get()] { raw->Run(); }));
  return loop;
}

EventLoop::~EventLoop() {
  stop_ = true;
  Wake();
  if (thread_.joinable()) thread_.join();
  close(wake_fd_);
  close(epoll_fd_);
}

void EventLoop::Post(Task task) {
  bool wake;
  {
    absl::MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
    wake = std::exchange(asleep_, false);
  }
  if (wake) Wake();
}

void EventLoop::PostAt(int64_t deadline_ns, Task task) {
  bool wake;
  {
    absl::MutexLock lock(&mutex_);
    new_timers_.push_back({deadline_ns, 0, std::make_shared<Task>(std::move(task))});
    wake = std::exchange(asleep_, false);
  }
  if (wake) Wake();
}

void EventLoop::RunAndWait(Task task) {
  if (std::this_thread::get_id() == thread_.get_id()) return task();
  MayWait("another thread");
  std::promise<void> done;
  Post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

absl::Status EventLoop::Watch(int fd, uint32_t events, OnEvents on_events) {
  epoll_event event{.events = events, .data = {.fd = fd}};
  if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0) return ErrnoStatus("epoll_ctl");
  watched_[fd] = std::make_shared<OnEvents>(std::move(on_events));
  return absl::OkStatus();
}

void EventLoop::Modify(int fd, uint32_t events) {
  epoll_event event{.events = events, .data = {.fd = fd}};
  epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::Unwatch(int fd) {
  if (watched_.erase(fd) > 0) epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::Wake() {
  const uint64_t one = 1;
  // The counter cannot overflow: at a million a second that takes half a million years.
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof(one));
}

void EventLoop::Run() {
  const NoWaiting no_waiting;
  while (!stop_) {
    RunTasks();
    RunTimers();
    RunEndOfTurn();
    Poll();
  }
  watched_.clear();
}

void EventLoop::RunTasks() {
  std::vector<Task> tasks;
  {
    absl::MutexLock lock(&mutex_);
    tasks.swap(tasks_);
    for (Timer& timer : new_timers_) {
      timer.order = timer_order_++;
      timers_.push(std::move(timer));
    }
    new_timers_.clear();
  }
  for (Task& task : tasks) std::exchange(task, nullptr)();
}

void EventLoop::RunTimers() {
  while (!timers_.empty() && timers_.top().deadline_ns <= clock_.NowNs()) {
    const std::shared_ptr<Task> task = timers_.top().task;
    timers_.pop();
    (*task)();
  }
}

// What these tasks leave for the end of the turn is done at once, but what that leaves is not: a
// task that renews itself must not keep the loop from its descriptors.
void EventLoop::RunEndOfTurn() {
  for (int i = 0; i < 2; ++i) {
    std::vector<Task> tasks;
    tasks.swap(end_of_turn_);
    for (Task& task : tasks) task();
  }
}

// Milliseconds until there is something to do: 0 now, -1 nothing is due. From here on, until the
// sleep is over, a poster must wake the loop.
int EventLoop::SleepTimeoutMs() {
  absl::MutexLock lock(&mutex_);
  if (stop_ || !tasks_.empty() || !new_timers_.empty() || !end_of_turn_.empty()) return 0;
  asleep_ = true;
  if (timers_.empty()) return -1;
  const int64_t wait_ns = timers_.top().deadline_ns - clock_.NowNs();
  const int64_t wait_ms = (wait_ns + kMillisecondNs - 1) / kMillisecondNs;
  return static_cast<int>(std::clamp<int64_t>(wait_ms, 0, 60'000));
}

int EventLoop::Wait(std::span<epoll_event> events) {
  const auto wait = [&](int timeout_ms) {
    return epoll_wait(epoll_fd_, events.data(), static_cast<int>(events.size()), timeout_ms);
  };
  const int timeout_ms = SleepTimeoutMs();
  if (timeout_ms != 0 && LookNs() > 0) {
    const int64_t end_ns = clock_.NowNs() + LookNs();
    do {
      if (const int n = wait(0); n != 0) return n;
    } while (clock_.NowNs() < end_ns);
  }
  return wait(timeout_ms);
}

void EventLoop::Poll() {
  std::array<epoll_event, 64> events;
  const int n = Wait(events);
  {
    absl::MutexLock lock(&mutex_);
    asleep_ = false;
  }
  for (int i = 0; i < n; ++i) {
    if (events[i].data.fd == wake_fd_) continue;
    const auto it = watched_.find(events[i].data.fd);
    if (it == watched_.end()) continue;  // unwatched by an earlier callback of this turn
    const std::shared_ptr<OnEvents> on_events = it->second;
    (*on_events)(events[i].events);
  }
}

}  // namespace tapedeck::dataplane
