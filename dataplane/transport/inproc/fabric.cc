#include "dataplane/transport/inproc/fabric.h"

#include <algorithm>
#include <utility>

#include "dataplane/transport/inproc/connection.h"

namespace tapedeck::dataplane::inproc {
namespace {

// Both share one wire; the one with the lower id brings it.
void Join(const std::shared_ptr<End>& one, const std::shared_ptr<End>& other) {
  one->peer = other;
  other->peer = one;
  one->wire = one->wire_id < other->wire_id ? one->own_wire : other->own_wire;
  other->wire = one->wire;
}

}  // namespace

uint64_t Fabric::NewId() {
  absl::MutexLock lock(&mutex_);
  return next_id_++;
}

void Fabric::Meet(uint64_t peer_id, std::shared_ptr<End> end, std::function<void()> on_met) {
  absl::MutexLock lock(&mutex_);
  const uint64_t id = end->wire_id;
  const auto peer = waiting_.find(peer_id);
  if (peer == waiting_.end() || peer->second.peer_id != id) {
    waiting_[id] = {peer_id, std::move(end), std::move(on_met)};
    return;
  }
  const Waiting met = std::move(peer->second);
  waiting_.erase(peer);
  Join(end, met.end);
  end->executor->Post(std::move(on_met));
  met.end->executor->Post(met.on_met);
}

void Fabric::Forget(uint64_t id) {
  absl::MutexLock lock(&mutex_);
  waiting_.erase(id);
}

bool Fabric::Chance(double probability) {
  return probability > 0 && std::uniform_real_distribution<double>()(random_) < probability;
}

void Fabric::Carry(const std::string& rail, uint64_t wire, Executor& to,
                   std::function<void()> deliver) {
  absl::MutexLock lock(&mutex_);
  if (const auto it = rails_.find(rail); it != rails_.end() && it->second == RailState::kSilent)
    return;
  if (Chance(faults_.drop)) {
    ++counts_.dropped;
    return;
  }
  const int64_t now_ns = to.clock().NowNs();
  const int64_t delay_ns = faults_.max_delay_ns == 0 ? 0
                                                     : std::uniform_int_distribution<int64_t>(
                                                           0, faults_.max_delay_ns)(random_);
  int64_t& last_ns = last_delivery_ns_[wire];
  const bool overtaken = Chance(faults_.reorder);
  const int64_t due_ns = overtaken ? std::max(last_ns, now_ns) + 2 * faults_.max_delay_ns + 1
                                   : std::max(last_ns, now_ns + delay_ns);
  if (overtaken) ++counts_.overtaken;
  if (!overtaken) last_ns = due_ns;
  if (Chance(faults_.duplicate)) {
    ++counts_.duplicated;
    to.PostAt(due_ns, deliver);
  }
  if (faults_.max_delay_ns == 0 && !overtaken) {
    to.Post(std::move(deliver));
  } else {
    to.PostAt(due_ns, std::move(deliver));
  }
}

FabricCounts Fabric::counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

void Fabric::SetRail(const std::string& rail, RailState state) {
  absl::MutexLock lock(&mutex_);
  rails_[rail] = state;
}

RailState Fabric::rail(const std::string& rail) const {
  absl::MutexLock lock(&mutex_);
  const auto it = rails_.find(rail);
  return it == rails_.end() ? RailState::kUp : it->second;
}

}  // namespace tapedeck::dataplane::inproc
