#include "services/server/call_threads.h"

#include <utility>

namespace tapedeck::services::server {
namespace {

// With fewer, one slow directory removal holds up every listing.
constexpr int kThreads = 4;

}  // namespace

CallThreads::CallThreads() {
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Work(); });
}

CallThreads::~CallThreads() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void CallThreads::Run(std::function<void()> call) {
  absl::MutexLock lock(&mutex_);
  calls_.push_back(std::move(call));
}

void CallThreads::Work() {
  const auto ready = [this]()
                         ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !calls_.empty(); };
  while (true) {
    std::function<void()> call;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (calls_.empty()) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    call();
  }
}

}  // namespace tapedeck::services::server
