// How often something may happen: in the long run once in so long, and some at once after a quiet
// time. Times are nanoseconds of one clock that never goes back (dataplane::Clock::NowNs).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::services {

struct RateLimit {
  int64_t each_ns = 0;
  int64_t at_once = 0;
};

// One thread at a time.
class RateLimiter {
 public:
  // How long the next one has to wait. 0: it goes now and counts.
  int64_t Take(const RateLimit& limit, int64_t now_ns) {
    const int64_t used_ns = UsedWithNext(limit, now_ns);
    if (used_ns > now_ns) return used_ns - now_ns;
    used_until_ns_ = used_ns;
    return 0;
  }
  // Counts one that has happened already. The next one waits `longest_wait_ns` at most.
  void Count(const RateLimit& limit, int64_t now_ns, int64_t longest_wait_ns = INT64_MAX / 4) {
    used_until_ns_ = std::min(UsedWithNext(limit, now_ns), now_ns + longest_wait_ns);
  }
  int64_t WaitNs(int64_t now_ns) const { return std::max<int64_t>(used_until_ns_ - now_ns, 0); }
  // Whether all that counted is forgotten.
  bool IsQuiet(const RateLimit& limit, int64_t now_ns) const {
    return used_until_ns_ <= now_ns - limit.at_once * limit.each_ns;
  }

 private:
  int64_t UsedWithNext(const RateLimit& limit, int64_t now_ns) const {
    return std::max(used_until_ns_, now_ns - limit.at_once * limit.each_ns) + limit.each_ns;
  }

  int64_t used_until_ns_ = INT64_MIN / 2;  // the time that those so far have used up
};

// A RateLimiter for each of `most` keys; the keys beyond share one. Any thread.
class RateLimiters {
 public:
  explicit RateLimiters(size_t most) : most_(most) {}

  int64_t Take(const std::string& key, const RateLimit& limit, int64_t now_ns)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return Of(key, limit, now_ns).Take(limit, now_ns);
  }
  void Count(const std::string& key, const RateLimit& limit, int64_t now_ns,
             int64_t longest_wait_ns) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    Of(key, limit, now_ns).Count(limit, now_ns, longest_wait_ns);
  }
  int64_t WaitNs(const std::string& key, int64_t now_ns) const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto own = limiters_.find(key);
    return (own == limiters_.end() ? others_ : own->second).WaitNs(now_ns);
  }

 private:
  RateLimiter& Of(const std::string& key, const RateLimit& limit, int64_t now_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (limiters_.size() >= most_ && !limiters_.contains(key)) {
      std::erase_if(limiters_, [&](const auto& one) { return one.second.IsQuiet(limit, now_ns); });
      if (limiters_.size() >= most_) return others_;
    }
    return limiters_[key];
  }

  const size_t most_;
  mutable absl::Mutex mutex_;
  std::map<std::string, RateLimiter> limiters_ ABSL_GUARDED_BY(mutex_);
  RateLimiter others_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services
