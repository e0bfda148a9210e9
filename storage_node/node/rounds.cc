#include "storage_node/node/rounds.h"

#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::node {

absl::StatusOr<std::unique_ptr<Rounds>> Rounds::Start(const std::string& name,
                                                      absl::Duration period,
                                                      std::function<void()> round) {
  std::unique_ptr<Rounds> rounds(new Rounds(period, std::move(round)));
  TD_ASSIGN_OR_RETURN(rounds->thread_,
                      dataplane::StartThread(name, [own = rounds.get()] { own->Run(); }));
  return rounds;
}

Rounds::~Rounds() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Rounds::Run() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (dataplane::AwaitFor(mutex_, absl::Condition(&stop_), period_)) return;
    }
    round_();
  }
}

}  // namespace tapedeck::storage_node::node
