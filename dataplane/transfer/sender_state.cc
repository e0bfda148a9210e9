#include <algorithm>

#include "dataplane/transfer/sender.h"

namespace tapedeck::dataplane {

SenderState Sender::state() const {
  SenderState state{.held = held_.size() - missing_held_};
  size_t room = 0;
  for (const auto& [index, lane] : lanes_) {
    state.in_flight += lane.inflight_blocks;
    room += LaneDepth(settings_.slot_bytes, lanes_.size());
  }
  if (!waiting_.empty()) {
    // A peer without free slots grants none, and then little is under way.
    const bool few = settings_.op != TransferOp::kRead &&
                     2 * state.in_flight < std::min<size_t>(room, settings_.peer_slots);
    state.waiting = few ? SenderState::Waiting::kGrants : SenderState::Waiting::kLanes;
  }
  const auto lowest = held_.find(arrived_.mark());
  if (lowest == held_.end() || lowest->second.received) return state;
  state.lowest = lowest->second.link;
  if (state.lowest == nullptr) return state;
  const auto lane = lanes_.find(state.lowest->index());
  if (lane == lanes_.end()) return state;
  state.lowest_alone = lanes_.size() > 1 && 4 * lane->second.inflight_blocks >= 3 * state.in_flight;
  return state;
}

}  // namespace tapedeck::dataplane
