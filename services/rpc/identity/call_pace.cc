#include "services/rpc/identity/call_pace.h"

#include <algorithm>

namespace tapedeck::services::identity {
namespace {

constexpr absl::Duration kAtOnce = absl::Seconds(2);

}  // namespace

bool CallPace::Take(const std::string& identity, uint32_t per_second, absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (paid_until_.size() >= kMostIdentities && !paid_until_.contains(identity)) {
    std::erase_if(paid_until_, [now](const auto& entry) { return entry.second <= now - kAtOnce; });
    if (paid_until_.size() >= kMostIdentities) return false;
  }
  const auto entry = paid_until_.try_emplace(identity, absl::InfinitePast()).first;
  const absl::Time next =
      std::max(entry->second, now - kAtOnce) + absl::Seconds(1) / static_cast<int64_t>(per_second);
  if (next > now) return false;
  entry->second = next;
  return true;
}

}  // namespace tapedeck::services::identity
