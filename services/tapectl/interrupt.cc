#include "services/tapectl/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <utility>

namespace tapedeck::services::tapectl {
namespace {

constexpr timespec kCheckInterval = {.tv_sec = 0, .tv_nsec = 50'000'000};

sigset_t Interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void BlockInterrupts() {
  const sigset_t set = Interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

InterruptWatch::InterruptWatch(std::function<void()> on_interrupt)
    : on_interrupt_(std::move(on_interrupt)), thread_([this] { Run(); }) {}

InterruptWatch::~InterruptWatch() {
  stop_ = true;
  thread_.join();
}

void InterruptWatch::Run() {
  const sigset_t set = Interrupts();
  while (!stop_) {
    if (sigtimedwait(&set, nullptr, &kCheckInterval) < 0) continue;
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    return on_interrupt_();
  }
}

}  // namespace tapedeck::services::tapectl
