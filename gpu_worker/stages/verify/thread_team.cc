#include "gpu_worker/stages/verify/thread_team.h"

#include <utility>

#include "dataplane/executor/thread.h"

namespace tapedeck::gpu_worker::stages::verify {

std::unique_ptr<ThreadTeam> ThreadTeam::Create(size_t helpers) {
  std::unique_ptr<ThreadTeam> team(new ThreadTeam);
  for (size_t thread_number = 1; thread_number <= helpers; ++thread_number) {
    auto thread = dataplane::StartThread(
        "td-verify", [raw = team.get(), thread_number] { raw->Help(thread_number); });
    if (!thread.ok()) break;
    team->helpers_.push_back(*std::move(thread));
  }
  return team;
}

ThreadTeam::~ThreadTeam() {
  stop_ = true;
  Call();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadTeam::Run(size_t parts, Work work) {
  {
    absl::MutexLock lock(&mutex_);
    work_ = &work;
    parts_ = parts;
    next_ = 0;
  }
  if (parts > 1) Call();
  DoParts(0);
  const auto done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return under_way_ == 0; };
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&done));
}

void ThreadTeam::Help(size_t thread_number) {
  while (true) {
    const uint32_t seen = calls_;
    if (stop_) return;
    DoParts(thread_number);
    calls_.wait(seen);
  }
}

void ThreadTeam::DoParts(size_t thread_number) {
  for (auto claim = Next(false); claim.has_value(); claim = Next(true)) {
    (*claim->work)(claim->part, thread_number);
  }
}

std::optional<ThreadTeam::Claim> ThreadTeam::Next(bool again) {
  absl::MutexLock lock(&mutex_);
  if (again) --under_way_;
  if (next_ >= parts_) return std::nullopt;
  ++under_way_;
  return Claim{.part = next_++, .work = work_};
}

void ThreadTeam::Call() {
  ++calls_;
  calls_.notify_all();
}

}  // namespace tapedeck::gpu_worker::stages::verify
