#include "services/rpc/server/signals.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "services/base/process/surroundings.h"

namespace tapedeck::services::server {
namespace {

sigset_t ShutdownSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (HangUpEnds()) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void BlockShutdownSignals() {
  const sigset_t set = ShutdownSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int WaitForShutdownSignal(const std::function<void()>& meanwhile) {
  const sigset_t set = ShutdownSignals();
  constexpr timespec kInterval{.tv_sec = 4};
  int signal = -1;
  while (signal < 0) {
    signal = sigtimedwait(&set, nullptr, &kInterval);
    if (signal < 0 && meanwhile) meanwhile();
  }
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return signal;
}

}  // namespace tapedeck::services::server
