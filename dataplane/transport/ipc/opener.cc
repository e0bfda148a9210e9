#include "dataplane/transport/ipc/opener.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::ipc {

absl::StatusOr<std::unique_ptr<Opener>> Opener::Create(const std::string& rail) {
  std::unique_ptr<Opener> opener(new Opener());
  TD_ASSIGN_OR_RETURN(opener->thread_, StartThread(absl::StrCat("ipc-", rail),
                                                   [raw = opener.get()] { raw->Work(); }));
  return opener;
}

void Opener::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
    dropped.swap(tasks_);
  }
  if (thread_.joinable()) thread_.join();
}

void Opener::LetGo(std::shared_ptr<PeerPath> path) {
  absl::MutexLock lock(&mutex_);
  if (!stop_) tasks_.push_back([path = std::move(path)] {});
}

absl::Status Opener::Run(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  if (tasks_.size() >= kMaxOpening) {
    return LimitReached("connections that open memory of a peer", "connections",
                        absl::StrCat(tasks_.size(), " connections wait for the driver"));
  }
  tasks_.push_back(std::move(task));
  return absl::OkStatus();
}

void Opener::Work() {
  while (true) {
    std::function<void()> task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &Opener::HasWork));
      if (stop_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace tapedeck::dataplane::ipc
