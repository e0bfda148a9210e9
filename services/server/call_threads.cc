#include "services/server/call_threads.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"

namespace tapedeck::services::server {
namespace {

absl::Status TooManyWait(size_t most, absl::string_view what) {
  return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                        most, " ", what, " already; try again when one of them has ended")),
                    "LIMIT_REACHED",
                    {{"limit", absl::StrCat(most)}, {"option", "calls that wait"}});
}

}  // namespace

CallThreads::~CallThreads() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

absl::Status CallThreads::Run(std::function<void()> call) {
  absl::MutexLock lock(&mutex_);
  if (calls_.size() >= kMaxWaitingCalls) return TooManyWait(kMaxWaitingCalls, "calls wait");
  const absl::Status made = MakeThread();
  if (threads_.empty()) return made;
  calls_.push_back(std::move(call));
  return absl::OkStatus();
}

absl::Status CallThreads::TryRun(std::function<void()> call) {
  absl::MutexLock lock(&mutex_);
  if (running_ + calls_.size() >= most_) {
    return TooManyWait(most_, "calls wait for disks or other machines");
  }
  TD_RETURN_IF_ERROR(MakeThread());
  calls_.push_back(std::move(call));
  return absl::OkStatus();
}

absl::Status CallThreads::MakeThread() {
  if (threads_.size() == most_ || running_ + calls_.size() < threads_.size()) {
    return absl::OkStatus();
  }
  TD_ASSIGN_OR_RETURN(std::thread thread, dataplane::StartThread("call", [this] { Work(); }));
  threads_.push_back(std::move(thread));
  return absl::OkStatus();
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
