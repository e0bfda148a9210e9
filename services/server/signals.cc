#include "services/server/signals.h"

#include <pthread.h>
#include <signal.h>

namespace tapedeck::services::server {
namespace {

sigset_t ShutdownSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void BlockShutdownSignals() {
  const sigset_t set = ShutdownSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

int WaitForShutdownSignal() {
  const sigset_t set = ShutdownSignals();
  int signal = 0;
  sigwait(&set, &signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  return signal;
}

}  // namespace tapedeck::services::server
