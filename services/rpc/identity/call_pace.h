// How many calls a second each identity may make. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tapedeck::services::identity {

class CallPace {
 public:
  // Whether one more call of that identity fits `per_second`; two seconds' worth may come at once.
  // False for an identity beyond kMostIdentities that have called within those seconds.
  bool Take(const std::string& identity, uint32_t per_second, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // With fewer, honest callers of a large site would meet each other; each costs 100 bytes or so.
  static constexpr size_t kMostIdentities = 4096;

 private:
  absl::Mutex mutex_;
  // When the calls so far would have been made at that pace.
  std::map<std::string, absl::Time> paid_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::services::identity
