#include "services/tapectl/terminal/interrupt.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <utility>

#include "services/base/process/surroundings.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr timespec kCheckInterval = {.tv_sec = 0, .tv_nsec = 50'000'000};

sigset_t Interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // What is ignored and blocked would be waited for.
  if (HangUpEnds()) sigaddset(&set, SIGHUP);
  return set;
}

std::thread StartBlocked(std::function<void()> run) {
  const sigset_t set = Interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return std::thread(std::move(run));
}

}  // namespace

NoInterrupts::NoInterrupts() {
  const sigset_t set = Interrupts();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

NoInterrupts::~NoInterrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

InterruptWatch::InterruptWatch(std::string last_words)
    : last_words_(std::move(last_words)), thread_(StartBlocked([this] { Run(); })) {}

InterruptWatch::~InterruptWatch() {
  stop_ = true;
  thread_.join();
}

void InterruptWatch::OnInterrupt(std::function<bool()> call, std::function<bool()> stop) {
  absl::MutexLock lock(&mutex_);
  call_ = std::move(call);
  stop_call_ = std::move(stop);
}

bool InterruptWatch::Stops() {
  absl::MutexLock lock(&mutex_);
  const std::function<bool()> stop = std::exchange(stop_call_, nullptr);
  return stop != nullptr && stop();
}

bool InterruptWatch::IsWanted() {
  absl::MutexLock lock(&mutex_);
  if (call_ == nullptr) std::cerr << last_words_ << std::endl;
  return call_ != nullptr && call_();
}

void InterruptWatch::Run() {
  const sigset_t set = Interrupts();
  while (!stop_) {
    const int signal = sigtimedwait(&set, nullptr, &kCheckInterval);
    if (signal < 0 || Stops()) continue;
    // This thread takes the next one, and this one again if nobody wants it: what they do by
    // default is to end the process. A shell's background job begins with SIGINT ignored.
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    if (!IsWanted()) {
      kill(getpid(), signal);
      return;
    }
    while (!stop_) nanosleep(&kCheckInterval, nullptr);
  }
}

}  // namespace tapedeck::services::tapectl
