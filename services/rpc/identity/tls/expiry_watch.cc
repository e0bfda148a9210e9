#include "services/rpc/identity/tls/expiry_watch.h"

#include "dataplane/executor/thread.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::identity {

absl::StatusOr<std::unique_ptr<ExpiryWatch>> ExpiryWatch::Create(TlsFiles files, absl::Time expires,
                                                                 absl::Duration look_every) {
  std::unique_ptr<ExpiryWatch> watch(new ExpiryWatch(std::move(files), expires));
  TD_ASSIGN_OR_RETURN(watch->thread_,
                      dataplane::StartThread("certificates", [raw = watch.get(), look_every] {
                        raw->Watch(look_every);
                      }));
  return watch;
}

ExpiryWatch::~ExpiryWatch() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

absl::Time ExpiryWatch::expires() const {
  absl::MutexLock lock(&mutex_);
  return expires_;
}

void ExpiryWatch::Watch(absl::Duration look_every) {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (dataplane::AwaitFor(mutex_, absl::Condition(&stopped_), look_every)) return;
    }
    const auto facts = CheckTlsFiles(files_, dataplane::WallTime());
    if (!facts.ok()) continue;
    absl::MutexLock lock(&mutex_);
    expires_ = facts->expires;
  }
}

}  // namespace tapedeck::services::identity
