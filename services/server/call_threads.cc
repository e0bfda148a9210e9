#include "services/server/call_threads.h"

#include <utility>

namespace tapedeck::services::server {

CallThreads::~CallThreads() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

bool CallThreads::Run(std::function<void()> call) {
  absl::MutexLock lock(&mutex_);
  if (calls_.size() >= kMaxWaitingCalls) return false;
  Add(std::move(call));
  return true;
}

bool CallThreads::TryRun(std::function<void()> call) {
  absl::MutexLock lock(&mutex_);
  if (running_ + calls_.size() >= most_) return false;
  Add(std::move(call));
  return true;
}

void CallThreads::Add(std::function<void()> call) {
  calls_.push_back(std::move(call));
  if (threads_.size() < most_ && running_ + calls_.size() > threads_.size()) {
    threads_.emplace_back([this] { Work(); });
  }
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
      ++running_;
    }
    call();
    call = nullptr;
    absl::MutexLock lock(&mutex_);
    --running_;
  }
}

}  // namespace tapedeck::services::server
