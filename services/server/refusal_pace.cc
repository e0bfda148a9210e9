#include "services/server/refusal_pace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/log.h"

namespace tapedeck::services::server {

using dataplane::Log;
using dataplane::LogLevel;

void RefusalPace::Answer(std::function<void()> answer) {
  {
    absl::MutexLock lock(&mutex_);
    if (const auto turn = Turn(); turn.has_value()) {
      held_->Post([this, turn = *turn, answer = std::move(answer)] {
        WaitUntil(turn);
        answer();
      });
      return;
    }
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

std::optional<absl::Time> RefusalPace::Turn() {
  const absl::Time now = absl::Now();
  const absl::Duration each = absl::Seconds(1) / limits_.per_second;
  const absl::Time turn = std::max(paced_until_, now - each * limits_.at_once) + each;
  if (turn <= now) {
    paced_until_ = turn;
    return std::nullopt;
  }
  const size_t held = held_->waiting();
  if (stopped_ || held >= limits_.held || !HasThread()) return std::nullopt;
  if (held == 0) {
    Log(LogLevel::kWarning, "services/server",
        "calls fail so often that their failures are answered slowly",
        {{"per_second", absl::StrCat(limits_.per_second)}});
  }
  paced_until_ = turn;
  return turn;
}

bool RefusalPace::HasThread() {
  if (thread_ != nullptr) return true;
  auto thread = TaskThread::Create("refusals", held_);
  if (!thread.ok()) return false;
  thread_ = *std::move(thread);
  return true;
}

void RefusalPace::WaitUntil(absl::Time turn) {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithTimeout(absl::Condition(&stopped_), turn - absl::Now());
}

}  // namespace tapedeck::services::server
