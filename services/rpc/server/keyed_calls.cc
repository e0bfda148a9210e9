#include "services/rpc/server/keyed_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/base/errors.h"

namespace tapedeck::services::server {
namespace {

absl::Status TooMany(const std::string& what, size_t most) {
  return LimitReached(most, "calls that wait",
                      absl::StrCat(what, "; try again when some have ended"));
}

}  // namespace

absl::Status KeyedCalls::Refusal(const std::string& key, const std::string& caller) const {
  if (waiting_ >= limits_.of_all) {
    return TooMany(absl::StrCat(limits_.of_all, " calls wait already"), limits_.of_all);
  }
  const auto own = of_callers_.find(caller);
  if (own != of_callers_.end() && own->second >= limits_.of_a_caller) {
    return TooMany(absl::StrCat(limits_.of_a_caller, " calls of ", caller, " wait already"),
                   limits_.of_a_caller);
  }
  const auto queue = calls_.find(key);
  if (queue != calls_.end() && queue->second.size() >= limits_.of_a_key) {
    return TooMany(absl::StrCat(limits_.of_a_key, " calls wait for ", key, " already"),
                   limits_.of_a_key);
  }
  return absl::OkStatus();
}

absl::Status KeyedCalls::TryRun(const std::string& key, std::function<void()> call,
                                const std::string& caller) {
  absl::MutexLock lock(&mutex_);
  if (absl::Status refusal = Refusal(key, caller); !refusal.ok()) return refusal;
  const auto [queue, is_new] = calls_.try_emplace(key);
  if (is_new) {
    if (absl::Status taken = threads_.Run([this, key] { Work(key); }); !taken.ok()) {
      calls_.erase(queue);
      return taken;
    }
  }
  queue->second.push_back({std::move(call), caller});
  ++waiting_;
  if (!caller.empty()) ++of_callers_[caller];
  return absl::OkStatus();
}

void KeyedCalls::Work(const std::string& key) {
  while (true) {
    Waiting next;
    {
      absl::MutexLock lock(&mutex_);
      const auto queue = calls_.find(key);
      if (queue->second.empty()) {
        calls_.erase(queue);
        return;
      }
      next = std::move(queue->second.front());
      queue->second.pop_front();
      --waiting_;
    }
    next.call();
    next.call = nullptr;
    Forget(next.caller);
  }
}

void KeyedCalls::Forget(const std::string& caller) {
  absl::MutexLock lock(&mutex_);
  const auto own = of_callers_.find(caller);
  if (own != of_callers_.end() && --own->second == 0) of_callers_.erase(own);
}

}  // namespace tapedeck::services::server
