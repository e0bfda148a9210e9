#include "services/base/process/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/executor/processors.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"

namespace tapedeck::services {

using dataplane::EventLoop;

absl::StatusOr<std::vector<std::unique_ptr<EventLoop>>> MakeSessionLoops() {
  std::vector<std::unique_ptr<EventLoop>> loops;
  const unsigned count = std::min(dataplane::ProcessorsAtStart().threads(), 4u);
  for (unsigned i = 0; i < count; ++i) {
    TD_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop,
                        EventLoop::Create(absl::StrCat("session-", i)));
    loops.push_back(std::move(loop));
  }
  return loops;
}

std::vector<dataplane::Executor*> AsExecutors(
    const std::vector<std::unique_ptr<EventLoop>>& loops) {
  std::vector<dataplane::Executor*> executors;
  for (const auto& loop : loops) executors.push_back(loop.get());
  return executors;
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

StopLimit::StopLimit(absl::Duration limit) : thread_([this, limit] { Watch(limit); }) {}

StopLimit::~StopLimit() {
  {
    absl::MutexLock lock(&mutex_);
    over_ = true;
  }
  thread_.join();
}

void StopLimit::SetLeft(std::function<std::string()> left) {
  absl::MutexLock lock(&mutex_);
  left_ = std::move(left);
}

void StopLimit::Watch(absl::Duration limit) {
  absl::MutexLock lock(&mutex_);
  if (dataplane::AwaitFor(mutex_, absl::Condition(&over_), limit)) return;
  dataplane::Log(dataplane::LogLevel::kError, "main", "ended without waiting any longer",
                 {{"left", left_ ? left_() : ""}});
  // Destructors would wait for what hangs.
  _exit(1);
}

int FailedToStart(const std::string& program, const Faults& faults) {
  for (const absl::Status& status : faults) {
    const std::optional<ErrorReason> reason = ReasonOf(status);
    std::fprintf(stderr, "%s: %s%s\n", program.c_str(), std::string(status.message()).c_str(),
                 reason.has_value() ? absl::StrCat(" [", reason->reason, "]").c_str() : "");
  }
  return 1;
}

int RefusedToStart(const std::string& program, const Faults& faults) {
  const int status = FailedToStart(program, faults);
  const auto may_pass = [](const absl::Status& fault) {
    return absl::IsUnavailable(fault) || absl::IsResourceExhausted(fault) ||
           absl::IsInternal(fault);
  };
  return std::ranges::all_of(faults, may_pass) ? status : 2;
}

}  // namespace tapedeck::services
