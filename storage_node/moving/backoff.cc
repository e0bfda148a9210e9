#include "storage_node/moving/backoff.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace tapedeck::storage_node::moving {

bool Backoff::Holds(const std::string& name, int64_t now_ns) const {
  const auto it = waits_.find(name);
  return it != waits_.end() && now_ns < it->second.until_ns;
}

absl::Duration Backoff::Failed(const std::string& name, int64_t now_ns) {
  Wait& wait = waits_[name];
  wait.delay = std::clamp(wait.delay * 2, kFirstDelay, kLongestDelay);
  wait.until_ns = now_ns + absl::ToInt64Nanoseconds(wait.delay);
  return wait.delay;
}

void Backoff::KeepOnly(absl::string_view prefix, const std::set<std::string>& names) {
  for (auto it = waits_.lower_bound(std::string(prefix));
       it != waits_.end() && absl::StartsWith(it->first, prefix);) {
    it = names.contains(it->first) ? std::next(it) : waits_.erase(it);
  }
}

}  // namespace tapedeck::storage_node::moving
