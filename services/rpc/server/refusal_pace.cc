#include "services/rpc/server/refusal_pace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/clock.h"
#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"

namespace tapedeck::services::server {

using dataplane::Log;
using dataplane::LogLevel;

void RefusalPace::Give(Answer answer, Gone gone) {
  std::vector<Answer> now;
  {
    absl::MutexLock lock(&mutex_);
    if (!Hold(answer, gone, now)) now.push_back(std::move(answer));
  }
  for (const Answer& each : now) each();
}

bool RefusalPace::Hold(Answer& answer, Gone& gone, std::vector<Answer>& unheard) {
  if (stopped_ || (held_.empty() && TakeTurn() == 0)) return false;
  if (held_.size() >= limits_.held) TakeGone(unheard);
  if (held_.size() >= limits_.held || !HasThread()) return false;
  if (held_.empty()) {
    Log(LogLevel::kWarning, "services/server",
        "calls fail so often that their failures are answered slowly",
        {{"per_second", absl::StrCat(limits_.per_second)}});
  }
  held_.push_back({std::move(answer), std::move(gone)});
  thread_->Run([this] { GiveNext(); });
  return true;
}

int64_t RefusalPace::TakeTurn() {
  return limiter_.Take(
      {.each_ns = dataplane::kSecondNs / limits_.per_second, .at_once = limits_.at_once},
      dataplane::SystemClock().NowNs());
}

void RefusalPace::TakeGone(std::vector<Answer>& unheard) {
  const auto waits = [](const PendingAnswer& held) { return !held.gone(); };
  const auto first = std::stable_partition(held_.begin(), held_.end(), waits);
  for (auto held = first; held != held_.end(); ++held) unheard.push_back(std::move(held->answer));
  held_.erase(first, held_.end());
}

bool RefusalPace::HasThread() {
  if (thread_ != nullptr) return true;
  auto thread = TaskThread::Create("refusals");
  if (!thread.ok()) return false;
  thread_ = *std::move(thread);
  thread_->Run([] { dataplane::LowerPriority(); });
  return true;
}

// Those that were taken out for nobody have left their tasks, which find less than there are.
void RefusalPace::GiveNext() {
  Answer answer;
  {
    absl::MutexLock lock(&mutex_);
    while (!stopped_ && !held_.empty() && !held_.front().gone()) {
      const int64_t wait_ns = TakeTurn();
      if (wait_ns == 0) break;
      dataplane::AwaitFor(mutex_, absl::Condition(&stopped_), absl::Nanoseconds(wait_ns));
    }
    if (held_.empty()) return;
    answer = std::move(held_.front().answer);
    held_.pop_front();
  }
  answer();
}

void RefusalPace::Stop() {
  std::unique_ptr<TaskThread> thread;
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    thread = std::move(thread_);
  }
}

}  // namespace tapedeck::services::server
