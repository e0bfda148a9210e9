#include "services/rpc/session_stream/failure_pace.h"

#include <algorithm>

namespace tapedeck::services::session_stream {
namespace {

// Of all callers for whom there is no room.
constexpr char kOthers[] = "";

}  // namespace

void FailurePace::OnFailure(const std::string& caller, int64_t now_ns) {
  absl::MutexLock lock(&mutex_);
  auto entry = until_ns_.find(caller);
  if (entry == until_ns_.end()) {
    std::erase_if(until_ns_, [now_ns](const auto& until) { return until.second <= now_ns; });
    const bool room = until_ns_.size() < kMostCallers;
    entry = until_ns_.try_emplace(room ? caller : kOthers, now_ns).first;
  }
  const int64_t longest_ns = now_ns + kAtOnce * kEachNs + kLongestWaitNs;
  entry->second = std::min(std::max(entry->second, now_ns) + kEachNs, longest_ns);
}

int64_t FailurePace::WaitNs(const std::string& caller, int64_t now_ns) const {
  absl::MutexLock lock(&mutex_);
  auto entry = until_ns_.find(caller);
  if (entry == until_ns_.end()) entry = until_ns_.find(kOthers);
  if (entry == until_ns_.end()) return 0;
  return std::max<int64_t>(entry->second - now_ns - kAtOnce * kEachNs, 0);
}

std::string CallerKey(const std::string& identity, const std::string& peer) {
  return identity.empty() ? peer.substr(0, peer.rfind(':')) : identity;
}

}  // namespace tapedeck::services::session_stream
