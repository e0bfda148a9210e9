// Loaded before libfaketime by clock_steps.sh. libfaketime takes a steady timer's time for the wall
// clock's, and reads a file for each look at any clock: here what goes by the steady clock goes to
// the kernel. Any thread.
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <ctime>

extern "C" {

int timerfd_settime(int fd, int flags, const itimerspec* value, itimerspec* old) noexcept {
  return static_cast<int>(syscall(SYS_timerfd_settime, fd, flags, value, old));
}

int poll(pollfd* fds, nfds_t count, int timeout_ms) {
  return static_cast<int>(syscall(SYS_poll, fds, count, timeout_ms));
}

int epoll_wait(int fd, epoll_event* events, int count, int timeout_ms) {
  return static_cast<int>(syscall(SYS_epoll_wait, fd, events, count, timeout_ms));
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  using Call = int (*)(clockid_t, timespec*);
  static const auto steady =
      reinterpret_cast<Call>(dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "clock_gettime"));
  static const auto stepped = reinterpret_cast<Call>(dlsym(RTLD_NEXT, "clock_gettime"));
  return (clock == CLOCK_MONOTONIC ? steady : stepped)(clock, now);
}
}
