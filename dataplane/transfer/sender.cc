#include "dataplane/transfer/sender.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tapedeck::dataplane {
namespace {

// Blocks that wait for a lane. More would only be made early and leave the cache before they are
// sent.
constexpr size_t kMaxWaiting = 4;

// Every so many choices the lanes take turns, so that the rate of a lane that was slow once is
// measured again.
constexpr uint64_t kProbeEvery = 100;

// Lanes this close count as equal: measured rates differ by scheduling alone, and a lane that is
// really slower shows by being full.
constexpr double kAboutAsGood = 3;
constexpr double kSlowest = 10;
constexpr double kSlowestIdle = 2;  // less than kAboutAsGood

// A rate is measured over at least this long; shorter windows measure how frames are batched.
constexpr int64_t kRateWindowNs = 5 * kMillisecondNs;
constexpr double kRateWeight = 0.25;  // of a new window

// Grants that wait on one link. An honest receiver has at most kMaxLaneDepth out.
constexpr size_t kMaxGrants = 4 * kMaxLaneDepth;

}  // namespace

absl::StatusOr<Flow> Sender::Push(Block* block) {
  const uint64_t sequence = block->header().sequence;
  if (sequence >= arrived_.mark() + settings_.peer_slots) return Flow::kNotNow;
  if (waiting_.size() >= kMaxWaiting) return Flow::kNotNow;
  const bool missing = block->payload().empty();
  if (missing && missing_held_ >= kMaxMissingHeld) return Flow::kNotNow;
  if (sequence < acked_ && sequence < settings_.given) {
    block->Reset();  // the receiver had it already
    return Flow::kMoved;
  }
  if (sequence < acked_ || held_.contains(sequence)) {
    return absl::InternalError(absl::StrCat("Sender::Push: block ", sequence, " came twice"));
  }
  pushed_ = std::max(pushed_, sequence + 1);
  PendingBlock& held = held_[sequence];
  held.block = std::move(*block);
  held.since_ns = executor_.clock().NowNs();
  missing_held_ += missing ? 1 : 0;
  settings_.trail.Stamp(missing ? flight::Kind::kGap : flight::Kind::kGiven,
                        {.sequence = sequence, .argument = held_.size(), .now_ns = held.since_ns});
  waiting_.insert(sequence);
  Dispatch();
  return Flow::kMoved;
}

absl::StatusOr<Flow> Sender::Finish(const absl::Status& cause) {
  if (!cause.ok() || held_.empty()) return Flow::kEnd;
  return Flow::kNotNow;
}

std::vector<Block> Sender::TakeUnacknowledged() {
  std::vector<Block> blocks;
  for (auto& [sequence, held] : held_) {
    if (!held.acked) blocks.push_back(std::move(held.block));
  }
  held_.clear();
  waiting_.clear();
  return blocks;
}

void Sender::OnLinkUp(Link& link) {
  lanes_[link.index()] = Lane{.link = &link};
  settings_.trail.Stamp(flight::Kind::kRailUp, {.place = link.index()});
  Dispatch();
}

void Sender::OnLinkDown(Link& link, const absl::Status&) {
  settings_.trail.Stamp(flight::Kind::kRailDown, {.place = link.index()});
  lanes_.erase(link.index());
  for (auto it = held_.begin(); it != held_.end();) {
    const auto current = it++;
    PendingBlock& held = current->second;
    if (held.link != &link) continue;
    held.local_busy = false;
    if (held.acked) {
      Release(current);
    } else if (!held.received) {
      Requeue(current->first, held);
    }
  }
  Dispatch();
}

void Sender::OnLinkFrame(Link& link, const Frame& frame, std::span<std::byte>) {
  const auto lane = lanes_.find(link.index());
  if (lane == lanes_.end()) return;
  absl::Status status;
  switch (frame.type) {
    case FrameType::kGrant:
      status = OnGrant(lane->second, frame.slot);
      settings_.trail.Stamp(flight::Kind::kCredit,
                            {.argument = LoadOf(lane->second), .place = link.index()});
      break;
    case FrameType::kReceived:
      OnReceived(lane->second, frame.block.sequence);
      break;
    case FrameType::kAck:
      status = OnAck(frame.block.sequence);
      break;
    case FrameType::kResend:
      OnResend(frame.block.sequence);
      break;
    default:
      status = absl::InvalidArgumentError("the receiving end sent a block");
      break;
  }
  if (!status.ok()) return link.Close(status);
  Dispatch();
}

void Sender::OnLinkCompleted(Link&, uint64_t work) {
  const auto it = held_.find(work);
  if (it == held_.end()) return;
  it->second.local_busy = false;
  if (it->second.acked) Release(it);
}

void Sender::Dispatch() {
  while (!waiting_.empty()) {
    const uint64_t sequence = *waiting_.begin();
    PendingBlock& held = held_.at(sequence);
    Lane* lane = ChooseLane(held.block.payload().size());
    if (lane == nullptr) return;
    waiting_.erase(waiting_.begin());
    Send(*lane, sequence, held);
    Wake();
  }
}

bool Sender::HasRoom(const Lane& lane) const {
  if (settings_.op == TransferOp::kRead) {
    return lane.inflight_blocks < LaneDepth(settings_.slot_bytes, lanes_.size());
  }
  return !lane.grants.empty();
}

uint64_t Sender::LoadOf(const Lane& lane) const {
  size_t credits = lane.grants.size();
  if (settings_.op == TransferOp::kRead) {
    const size_t depth = LaneDepth(settings_.slot_bytes, lanes_.size());
    credits = depth - std::min<size_t>(lane.inflight_blocks, depth);
  }
  return flight::Load{.in_flight = lane.inflight_blocks, .credits = static_cast<uint32_t>(credits)}
      .argument();
}

// Predicted finish time: (bytes in flight + block) / rate. A lane never measured counts as the
// fastest. One that looks slow is never believed to be more than 10 times slower, and an idle one
// always counts as about as good: one bad measurement must not starve a lane, because a lane
// without blocks is not measured again.
double Sender::PredictedFinish(const Lane& lane, uint64_t bytes, double fastest) const {
  const double floor = fastest / (lane.inflight_blocks == 0 ? kSlowestIdle : kSlowest);
  const double rate = lane.bytes_per_ns == 0 ? fastest : std::max(lane.bytes_per_ns, floor);
  return static_cast<double>(lane.inflight_bytes + bytes) / (rate > 0 ? rate : 1);
}

// The lane with the least predicted finish time; among those that are about as good, the one that
// has carried least, so that equal rails get equal shares also when the source is slower than
// either.
Sender::Lane* Sender::ChooseLane(uint64_t bytes) {
  const bool probe = ++choices_ % kProbeEvery == 0;
  double fastest = 0;
  for (const auto& [index, lane] : lanes_) fastest = std::max(fastest, lane.bytes_per_ns);
  double best = std::numeric_limits<double>::infinity();
  const auto usable = [&](const Lane& lane) { return bytes == 0 || HasRoom(lane); };
  for (const auto& [index, lane] : lanes_) {
    if (usable(lane)) best = std::min(best, PredictedFinish(lane, bytes, fastest));
  }
  Lane* chosen = nullptr;
  for (auto& [index, lane] : lanes_) {
    if (!usable(lane)) continue;
    if (!probe && PredictedFinish(lane, bytes, fastest) > best * kAboutAsGood) continue;
    if (chosen == nullptr || lane.sent_blocks < chosen->sent_blocks) chosen = &lane;
  }
  return chosen;
}

void Sender::Send(Lane& lane, uint64_t sequence, PendingBlock& held) {
  if (std::exchange(held.sent_before, true)) ++counters_.retransmitted_blocks;
  if (lane.inflight_blocks == 0) lane.busy_since_ns = executor_.clock().NowNs();
  const std::span<const std::byte> payload = held.block.payload();
  held.link = lane.link;
  held.local_busy = !payload.empty();
  lane.inflight_bytes += payload.size();
  ++lane.inflight_blocks;
  ++lane.sent_blocks;
  settings_.trail.Stamp(
      flight::Kind::kRail,
      {.sequence = sequence, .argument = LoadOf(lane), .place = lane.link->index()});
  Frame frame{.type = FrameType::kBlock, .block = held.block.header()};
  if (payload.empty()) return lane.link->Send(frame, {}, sequence);  // takes no slot anywhere
  switch (settings_.op) {
    case TransferOp::kSend:
      lane.grants.pop_back();
      lane.link->Send(frame, payload, sequence);
      break;
    case TransferOp::kWrite:
      frame.slot = lane.grants.back();
      lane.grants.pop_back();
      lane.link->Write(frame, payload, frame.slot * settings_.slot_bytes, sequence);
      break;
    case TransferOp::kRead:
      frame.slot = held.block.slot();
      lane.link->Send(frame, {}, sequence);
      break;
  }
}

void Sender::OnReceived(Lane& lane, uint64_t sequence) {
  const auto it = held_.find(sequence);
  if (it == held_.end() || it->second.link != lane.link || it->second.received) return;
  PendingBlock& held = it->second;
  const uint64_t bytes = held.block.header().payload_bytes;
  held.received = true;
  if (settings_.op == TransferOp::kRead) held.local_busy = false;
  lane.inflight_bytes -= bytes;
  --lane.inflight_blocks;
  lane.link->CountSent(bytes);
  Measure(lane, bytes, held.since_ns);
  settings_.trail.Stamp(flight::Kind::kReceived, {.sequence = sequence,
                                                  .argument = LoadOf(lane),
                                                  .place = lane.link->index(),
                                                  .now_ns = lane.busy_since_ns});
  arrived_.Add(sequence);
  Wake();
  if (held.acked && !held.local_busy) Release(it);
}

// Adds to the lane's measured time only while it is busy.
void Sender::Measure(Lane& lane, uint64_t bytes, int64_t since_ns) {
  const int64_t now_ns = executor_.clock().NowNs();
  const int64_t transit_ns = now_ns - since_ns;
  transit_.least_ns = transit_.blocks == 0 ? transit_ns : std::min(transit_.least_ns, transit_ns);
  ++transit_.blocks;
  transit_.sum_ns += transit_ns;
  transit_.busy_ns += now_ns - lane.busy_since_ns;
  lane.window_bytes += bytes;
  lane.window_ns += now_ns - lane.busy_since_ns;
  lane.busy_since_ns = now_ns;
  if (lane.window_ns < kRateWindowNs) return;
  const double rate = static_cast<double>(lane.window_bytes) / static_cast<double>(lane.window_ns);
  lane.bytes_per_ns =
      lane.bytes_per_ns == 0 ? rate : (1 - kRateWeight) * lane.bytes_per_ns + kRateWeight * rate;
  lane.window_ns = 0;
  lane.window_bytes = 0;
}

absl::Status Sender::OnGrant(Lane& lane, uint32_t slot) const {
  // Their numbers say nothing: a memory LUN lends slots from all of its memory.
  const size_t most = std::min<size_t>(settings_.peer_slots, kMaxGrants);
  if (lane.grants.size() >= most) {
    return absl::InvalidArgumentError(
        absl::StrCat("the receiving end granted more than ", most, " slots"));
  }
  lane.grants.push_back(slot);
  return absl::OkStatus();
}

absl::Status Sender::OnAck(uint64_t watermark) {
  if (watermark <= acked_) return absl::OkStatus();
  if (watermark > pushed_) {
    return absl::InvalidArgumentError(absl::StrCat("the receiving end acknowledged ", watermark,
                                                   " blocks, and ", pushed_, " were sent"));
  }
  acked_ = watermark;
  arrived_.AddBelow(watermark);
  const int64_t now_ns = executor_.clock().NowNs();
  for (auto it = held_.begin(); it != held_.end() && it->first < watermark;) {
    const auto current = it++;
    PendingBlock& held = current->second;
    if (!std::exchange(held.acked, true) && held.link != nullptr) {
      held.link->meter().latency.Observe(now_ns - held.since_ns);
      settings_.trail.Stamp(flight::Kind::kAcknowledged,
                            {.sequence = current->first, .now_ns = now_ns});
    }
    waiting_.erase(current->first);
    if (!held.local_busy) Release(current);
  }
  Wake();
  return absl::OkStatus();
}

void Sender::OnResend(uint64_t sequence) {
  const auto it = held_.find(sequence);
  if (it == held_.end() || it->second.acked || waiting_.contains(sequence)) return;
  it->second.received = false;
  settings_.trail.Stamp(flight::Kind::kResend, {.sequence = sequence});
  Requeue(sequence, it->second);
}

void Sender::Requeue(uint64_t sequence, PendingBlock& held) {
  held.link = nullptr;
  waiting_.insert(sequence);
}

void Sender::Release(PendingBlocks::iterator it) {
  const PendingBlock& held = it->second;
  // An acknowledgement may overtake kReceived when it comes over another link.
  if (!held.received && held.link != nullptr) {
    if (const auto lane = lanes_.find(held.link->index()); lane != lanes_.end()) {
      lane->second.inflight_bytes -= held.block.header().payload_bytes;
      --lane->second.inflight_blocks;
      held.link->CountSent(held.block.header().payload_bytes);
    }
  }
  missing_held_ -= held.block.payload().empty() ? 1 : 0;
  held_.erase(it);
  Wake();
}

void Sender::Wake() {
  if (waker_) waker_();
}

}  // namespace tapedeck::dataplane
