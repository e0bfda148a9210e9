#include "storage_node/store/directory/presence.h"

namespace tapedeck::storage_node::store::directory {

absl::Status Presence::Add(const std::shared_ptr<OpenFiles>& files) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(open_, [](const auto& open) { return open.expired(); });
  if (gone_.ok()) open_.push_back(files);
  return gone_;
}

// Files are looked at, and closed, without the lock: opening waits for that only.
std::vector<std::shared_ptr<OpenFiles>> Presence::Open(const absl::Status& member) {
  absl::MutexLock lock(&mutex_);
  gone_.Update(member);
  std::vector<std::shared_ptr<OpenFiles>> open;
  for (const auto& each : open_) {
    if (auto files = each.lock()) open.push_back(std::move(files));
  }
  return open;
}

absl::Status Presence::Look() {
  const absl::Status member = member_.Look();
  for (const auto& files : Open(member)) {
    const absl::Status status = member.ok() ? files->Look() : member;
    if (!status.ok()) files->lost().Set(status);
  }
  return member;
}

}  // namespace tapedeck::storage_node::store::directory
