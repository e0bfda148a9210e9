// When to try a failed move again: after 10 s, and twice as long each time, 10 minutes at most. One
// thread. Times are of the steady clock.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "dataplane/deadline.h"

namespace tapedeck::storage_node::moving {

// Names are of channels and recordings.
class Backoff {
 public:
  // Whether it is too early at `now_ns`.
  bool Holds(const std::string& name, int64_t now_ns) const {
    const auto it = waits_.find(name);
    return it != waits_.end() && now_ns < it->second.until_ns;
  }
  bool Has(const std::string& name) const { return waits_.contains(name); }
  // Returns how long it is left alone.
  absl::Duration Failed(const std::string& name, int64_t now_ns) {
    Wait& wait = waits_[name];
    const auto delay =
        dataplane::BackoffAfter(++wait.failures, absl::Seconds(10), absl::Minutes(10));
    wait.until_ns = now_ns + absl::ToInt64Nanoseconds(delay);
    return delay;
  }
  void Ended(const std::string& name) { waits_.erase(name); }
  // Of the names that begin with `prefix` forgets all but those.
  void KeepOnly(absl::string_view prefix, const std::set<std::string>& names) {
    for (auto it = waits_.lower_bound(std::string(prefix));
         it != waits_.end() && absl::StartsWith(it->first, prefix);) {
      it = names.contains(it->first) ? std::next(it) : waits_.erase(it);
    }
  }
  size_t size() const { return waits_.size(); }

 private:
  struct Wait {
    int64_t until_ns = 0;
    uint32_t failures = 0;
  };
  std::map<std::string, Wait> waits_;
};

}  // namespace tapedeck::storage_node::moving
