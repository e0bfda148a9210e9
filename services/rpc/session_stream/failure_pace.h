// Sessions that fail cost their node as much as those that record, and a caller whose sessions all
// fail can begin hundreds a second. So each failure uses up some of its caller's time, and whoever
// has none left waits with its next session until that has passed. Others do not wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/clock.h"

namespace tapedeck::services::session_stream {

// Times are a clock's NowNs. Any thread.
class FailurePace {
 public:
  // So often in the long run, and so many at once: a run of mistakes is nobody's attack.
  static constexpr int64_t kEachNs = 125 * dataplane::kMillisecondNs;
  static constexpr int64_t kAtOnce = 32;
  // Less than a worker waits for an answer to its Open, as honest ones may share the address.
  static constexpr int64_t kLongestWaitNs = dataplane::kSecondNs;
  // That have failed within the last seconds; those beyond share one place.
  static constexpr size_t kMostCallers = 1024;

  void OnFailure(const std::string& caller, int64_t now_ns) ABSL_LOCKS_EXCLUDED(mutex_);

  // How long the next session of `caller` waits. 0: it may begin.
  int64_t WaitNs(const std::string& caller, int64_t now_ns) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  // When the failures so far are forgotten, at that pace.
  std::map<std::string, int64_t> until_ns_ ABSL_GUARDED_BY(mutex_);
};

// Who a call's limits are counted for: the identity, or where there is none the host of gRPC's
// `peer`, without the port.
std::string CallerKey(const std::string& identity, const std::string& peer);

}  // namespace tapedeck::services::session_stream
