#include <algorithm>

#include "dataplane/transfer/sender.h"

namespace tapedeck::dataplane {

SenderStanding Sender::standing() const {
  SenderStanding standing{.held = held_.size() - missing_held_};
  size_t room = 0;
  for (const auto& [index, lane] : lanes_) {
    standing.in_flight += lane.inflight_blocks;
    room += LaneDepth(settings_.slot_bytes, lanes_.size());
  }
  if (!waiting_.empty()) {
    // A peer without free slots grants none, and then little is under way.
    const bool few = settings_.op != TransferOp::kRead &&
                     2 * standing.in_flight < std::min<size_t>(room, settings_.peer_slots);
    standing.waiting = few ? SenderStanding::Waiting::kGrants : SenderStanding::Waiting::kLanes;
  }
  const auto lowest = held_.find(arrived_.mark());
  if (lowest == held_.end() || lowest->second.received) return standing;
  standing.lowest = lowest->second.link;
  if (standing.lowest == nullptr) return standing;
  const auto lane = lanes_.find(standing.lowest->index());
  if (lane == lanes_.end()) return standing;
  standing.lowest_alone =
      lanes_.size() > 1 && 4 * lane->second.inflight_blocks >= 3 * standing.in_flight;
  return standing;
}

}  // namespace tapedeck::dataplane
