#include "services/server/keyed_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "services/errors.h"

namespace tapedeck::services::server {
namespace {

constexpr size_t kMostOfAKey = 64;
// Each holds its request.
constexpr size_t kMostOfAll = 256;

absl::Status TooMany(const std::string& what, size_t most) {
  return LimitReached(most, "calls that wait",
                      absl::StrCat(what, "; try again when some have ended"));
}

}  // namespace

absl::Status KeyedCalls::TryRun(const std::string& key, std::function<void()> call) {
  absl::MutexLock lock(&mutex_);
  if (waiting_ >= kMostOfAll) {
    return TooMany(absl::StrCat(kMostOfAll, " calls wait already"), kMostOfAll);
  }
  const auto [queue, is_new] = calls_.try_emplace(key);
  if (!is_new) {
    if (queue->second.size() >= kMostOfAKey) {
      return TooMany(absl::StrCat(kMostOfAKey, " calls wait for ", key, " already"), kMostOfAKey);
    }
    queue->second.push_back(std::move(call));
    ++waiting_;
    return absl::OkStatus();
  }
  if (const absl::Status taken = threads_.Run([this, key] { Work(key); }); !taken.ok()) {
    calls_.erase(queue);
    return taken;
  }
  queue->second.push_back(std::move(call));
  ++waiting_;
  return absl::OkStatus();
}

void KeyedCalls::Work(const std::string& key) {
  while (true) {
    std::function<void()> call;
    {
      absl::MutexLock lock(&mutex_);
      const auto queue = calls_.find(key);
      if (queue->second.empty()) {
        calls_.erase(queue);
        return;
      }
      call = std::move(queue->second.front());
      queue->second.pop_front();
      --waiting_;
    }
    call();
  }
}

}  // namespace tapedeck::services::server
