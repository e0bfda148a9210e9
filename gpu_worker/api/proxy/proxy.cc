#include "gpu_worker/api/proxy/proxy.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "dataplane/executor/thread.h"
#include "dataplane/status_macros.h"

namespace tapedeck::gpu_worker::api {
namespace {

// A block comes to its session by so much later in economy mode.
constexpr absl::Duration kNap = absl::Microseconds(250);
// While no stream has anything to send.
constexpr absl::Duration kLongNap = absl::Milliseconds(2);
// Looks without a yield, so that a machine with few processors goes on.
constexpr int kLooksInARow = 200;

}  // namespace

absl::StatusOr<std::unique_ptr<Proxy>> Proxy::Create(ProxyMode mode) {
  std::unique_ptr<Proxy> proxy(new Proxy(mode));
  TD_ASSIGN_OR_RETURN(proxy->thread_,
                      dataplane::StartThread("slot-proxy", [raw = proxy.get()] { raw->Run(); }));
  return proxy;
}

Proxy::~Proxy() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Proxy::Watch(std::shared_ptr<Watched> watched) {
  absl::MutexLock lock(&mutex_);
  watched_.push_back(std::move(watched));
}

void Proxy::Leave(const Watched& watched) {
  std::shared_ptr<Watched> last;  // destroyed outside the lock
  absl::MutexLock lock(&mutex_);
  const auto it =
      std::ranges::find(watched_, &watched, [](const auto& other) { return other.get(); });
  if (it == watched_.end()) return;
  last = std::move(*it);
  watched_.erase(it);
}

bool Proxy::LookAtAll() {
  bool moved = false;
  for (const auto& watched : watched_) moved |= watched->Look();
  return moved;
}

bool Proxy::Expects() const {
  return std::ranges::any_of(watched_, [](const auto& watched) { return watched->expects(); });
}

void Proxy::Run() {
  int looks = 0;
  while (true) {
    bool moved = false;
    bool expects = false;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &Proxy::HasSome));
      if (stop_) return;
      moved = LookAtAll();
      expects = Expects();
    }
    if (mode_ == ProxyMode::kEconomy) {
      absl::SleepFor(expects ? kNap : kLongNap);
    } else if (moved) {
      continue;
    } else if (++looks % kLooksInARow == 0) {
      sched_yield();
    }
  }
}

}  // namespace tapedeck::gpu_worker::api
