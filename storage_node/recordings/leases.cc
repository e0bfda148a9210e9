#include "storage_node/recordings/leases.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/executor/waiting.h"

namespace tapedeck::storage_node::recordings {

// At `name` itself or any prefix of it that ends before a slash.
bool Leases::ExclusiveAbove(const std::string& name) const {
  for (size_t end = name.size(); end != std::string::npos && end > 0;
       end = name.rfind('/', end - 1)) {
    const auto it = held_.find(name.substr(0, end));
    if (it != held_.end() && it->second.exclusive) return true;
  }
  return false;
}

std::unique_ptr<Leases::Lease> Leases::TakeShared(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  if (ExclusiveAbove(name)) return nullptr;
  ++held_[name].shared;
  return std::unique_ptr<Lease>(new Lease(shared_from_this(), name, false));
}

std::unique_ptr<Leases::Lease> Leases::TakeBeside(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  if (ExclusiveAbove(name.substr(0, name.rfind('/')))) return nullptr;
  ++held_[name].shared;
  return std::unique_ptr<Lease>(new Lease(shared_from_this(), name, false));
}

bool Leases::IsHeld(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  return ExclusiveAbove(name) || held_.contains(name);
}

bool Leases::AwaitEnd(const std::string& name, dataplane::Deadline deadline) {
  dataplane::MayWait("a lease");
  absl::MutexLock lock(&mutex_);
  const auto ended = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !ExclusiveAbove(name); };
  return dataplane::AwaitUntil(mutex_, absl::Condition(&ended), deadline);
}

std::unique_ptr<Leases::Lease> Leases::TakeExclusive(const std::string& name) {
  absl::MutexLock lock(&mutex_);
  if (ExclusiveAbove(name) || held_.contains(name)) return nullptr;
  const std::string below = absl::StrCat(name, "/");
  const auto next = held_.lower_bound(below);
  if (next != held_.end() && absl::StartsWith(next->first, below)) return nullptr;
  held_[name].exclusive = true;
  return std::unique_ptr<Lease>(new Lease(shared_from_this(), name, true));
}

void Leases::Release(const std::string& name, bool exclusive) {
  absl::MutexLock lock(&mutex_);
  const auto it = held_.find(name);
  if (exclusive) {
    it->second.exclusive = false;
  } else {
    --it->second.shared;
  }
  if (!it->second.exclusive && it->second.shared == 0) held_.erase(it);
}

}  // namespace tapedeck::storage_node::recordings
