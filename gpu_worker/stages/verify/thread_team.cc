#include "gpu_worker/stages/verify/thread_team.h"

#include <utility>

#include "dataplane/executor/thread.h"

namespace tapedeck::gpu_worker::stages::verify {

std::unique_ptr<Crew> Crew::Create(size_t helpers) {
  std::unique_ptr<Crew> crew(new Crew);
  for (size_t place = 1; place <= helpers; ++place) {
    auto thread =
        dataplane::StartThread("td-verify", [raw = crew.get(), place] { raw->Help(place); });
    if (!thread.ok()) break;
    crew->helpers_.push_back(*std::move(thread));
  }
  return crew;
}

Crew::~Crew() {
  stop_ = true;
  Call();
  for (std::thread& helper : helpers_) helper.join();
}

void Crew::Run(size_t parts, Work work) {
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

void Crew::Help(size_t place) {
  while (true) {
    const uint32_t seen = calls_;
    if (stop_) return;
    DoParts(place);
    calls_.wait(seen);
  }
}

void Crew::DoParts(size_t place) {
  for (auto claim = Next(false); claim.has_value(); claim = Next(true)) {
    (*claim->work)(claim->part, place);
  }
}

std::optional<Crew::Claim> Crew::Next(bool again) {
  absl::MutexLock lock(&mutex_);
  if (again) --under_way_;
  if (next_ >= parts_) return std::nullopt;
  ++under_way_;
  return Claim{.part = next_++, .work = work_};
}

void Crew::Call() {
  ++calls_;
  calls_.notify_all();
}

}  // namespace tapedeck::gpu_worker::stages::verify
