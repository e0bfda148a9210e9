#include "services/rpc/session_stream/graveyard.h"

#include <utility>

namespace tapedeck::services::session_stream {

Graveyard::Graveyard() : thread_([this] { Work(); }) {}

Graveyard::~Graveyard() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void Graveyard::CallBegun() {
  absl::MutexLock lock(&mutex_);
  ++unburied_;
}

void Graveyard::Bury(std::shared_ptr<void> call) {
  absl::MutexLock lock(&mutex_);
  --unburied_;
  calls_.push_back(std::move(call));
}

void Graveyard::Work() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !calls_.empty() || (stop_ && unburied_ == 0);
  };
  std::vector<std::shared_ptr<void>> calls;
  do {
    calls.clear();  // without the lock
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&ready));
    calls.swap(calls_);
  } while (!calls.empty());
}

}  // namespace tapedeck::services::session_stream
