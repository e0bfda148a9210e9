#include "services/tapectl/terminal/keys.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "dataplane/executor/timed_wait.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr int kPollMs = 100;
constexpr absl::Duration kForTheCaller = absl::Milliseconds(500);
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// For signal handlers. `before` is valid while `changed`.
termios before;
std::atomic<bool> changed = false;
static_assert(std::atomic<bool>::is_always_lock_free);

bool InForeground() { return tcgetpgrp(STDIN_FILENO) == getpgrp(); }

// A process in the background would be stopped for it otherwise.
void SetTerminal(const termios& settings) {
  sigset_t ttou;
  sigset_t others;
  sigemptyset(&ttou);
  sigaddset(&ttou, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &ttou, &others);
  tcsetattr(STDIN_FILENO, TCSANOW, &settings);
  pthread_sigmask(SIG_SETMASK, &others, nullptr);
}

void Change() {
  if (!InForeground() || tcgetattr(STDIN_FILENO, &before) != 0) return;
  termios now = before;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  changed = true;
  SetTerminal(now);
}

void Restore() {
  if (changed.exchange(false)) SetTerminal(before);
}

// What is ignored stays so: nohup(1) has it.
void Take(int signal, void (*handler)(int), int flags) {
  struct sigaction old = {};
  if (sigaction(signal, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags | SA_NODEFER;
  sigaction(signal, &action, nullptr);
}

// Once: the signal's own action is back by then.
void OnEnd(int signal) {
  Restore();
  raise(signal);
}

void OnStop(int signal) {
  const int error = errno;
  Restore();
  Take(signal, SIG_DFL, 0);
  raise(signal);  // stops here, until SIGCONT
  Take(signal, OnStop, SA_RESTART);
  Change();
  errno = error;
}

void TakeSignals() {
  for (const int signal : kEnding) Take(signal, OnEnd, static_cast<int>(SA_RESETHAND));
  Take(SIGTSTP, OnStop, SA_RESTART);
}

void LeaveSignals() {
  for (const int signal : kEnding) Take(signal, SIG_DFL, 0);
  Take(SIGTSTP, SIG_DFL, 0);
}

// One key; 0: none yet, negative: none will come.
int NextKey() {
  pollfd in = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  // A process in the background that reads is stopped.
  if (!InForeground()) in.fd = -1;
  if (poll(&in, 1, kPollMs) <= 0) return 0;
  char key = 0;
  const ssize_t got = read(STDIN_FILENO, &key, 1);
  if (got == 1) return static_cast<unsigned char>(key);
  return got < 0 && errno == EINTR ? 0 : -1;
}

}  // namespace

Keys::Keys() {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) return;
  TakeSignals();
  Change();
  thread_ = std::thread([this] { Read(); });
}

Keys::~Keys() {
  if (!thread_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    over_ = true;
  }
  thread_.join();
  Restore();
  LeaveSignals();
}

bool Keys::Wait(absl::Duration time) {
  absl::MutexLock lock(&mutex_);
  dataplane::AwaitFor(mutex_, absl::Condition(&quit_), time);
  return !quit_;
}

bool Keys::Ends() {
  absl::MutexLock lock(&mutex_);
  return over_;
}

void Keys::Read() {
  int key = 0;
  while (key >= 0 && key != 'q' && key != 'Q') {
    if (Ends()) return;
    key = NextKey();
  }
  if (key < 0) return;
  absl::MutexLock lock(&mutex_);
  quit_ = true;
  if (dataplane::AwaitFor(mutex_, absl::Condition(&over_), kForTheCaller)) return;
  Restore();
  _exit(0);
}

}  // namespace tapedeck::services::tapectl
