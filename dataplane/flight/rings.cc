#include "dataplane/flight/rings.h"

namespace tapedeck::dataplane::flight {

Ring* Rings::Take(absl::string_view thread) {
  absl::MutexLock lock(&mutex_);
  Ring* ring = nullptr;
  if (rings_.size() < most_) {
    ring = rings_.emplace_back(std::make_unique<Ring>(entries_)).get();
  } else if (!free_.empty()) {
    ring = free_.front();
    free_.pop_front();
  } else {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  ring->Begin(thread);
  return ring;
}

void Rings::GiveBack(Ring* ring) {
  absl::MutexLock lock(&mutex_);
  free_.push_back(ring);
}

std::vector<const Ring*> Rings::All() const {
  absl::MutexLock lock(&mutex_);
  std::vector<const Ring*> all;
  for (const auto& ring : rings_) all.push_back(ring.get());
  return all;
}

}  // namespace tapedeck::dataplane::flight
