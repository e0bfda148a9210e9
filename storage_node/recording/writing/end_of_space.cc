#include "storage_node/recording/writing/end_of_space.h"

#include <algorithm>

namespace tapedeck::storage_node::recording {

void EndOfSpace::Set(uint64_t sequence, const absl::Status& why) {
  const bool first = !is_set();
  at_ = std::min(at_, sequence);
  why_.Update(why);
  if (first && status().ok()) LookLater();
}

absl::Status EndOfSpace::status() const {
  return late_ || received_() >= at_ ? why_ : absl::OkStatus();
}

void EndOfSpace::LookLater() {
  seen_ = received_();
  executor_.PostAfter(kLateBlocksNs, lifetime_.Guard([this] {
    if (!status().ok()) return;
    if (received_() > seen_) return LookLater();
    late_ = true;
    on_late_();
  }));
}

}  // namespace tapedeck::storage_node::recording
