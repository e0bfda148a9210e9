#include "services/session/transfer/traced_source.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "dataplane/status_macros.h"

namespace tapedeck::services::session {

using dataplane::Flow;

namespace {

constexpr uint64_t kLookEvery = 1024;

size_t BucketOf(int64_t ns) {
  const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 4));
  const int top = std::bit_width(value) - 1;
  return static_cast<size_t>(top) * 4 + (value >> (top - 2) & 3);
}

// The least time that is beyond the bucket.
int64_t EndOf(size_t bucket) {
  const size_t top = bucket / 4;
  return static_cast<int64_t>((bucket % 4 + 5) << (top - 2));
}

}  // namespace

bool SlowTimes::Observe(int64_t ns) {
  const bool slow = ns >= limit_ns_;
  ++counts_[BucketOf(ns)];
  if (++count_ >= kEnough && count_ % kLookEvery == 0) FindLimit();
  return slow;
}

void SlowTimes::FindLimit() {
  uint64_t beyond = count_ / 1000;
  size_t bucket = counts_.size() - 1;
  while (bucket > 8 && counts_[bucket] <= beyond) beyond -= counts_[bucket--];
  limit_ns_ = std::clamp(EndOf(bucket), kNeverNs, kAlwaysNs);
}

absl::StatusOr<Flow> TracedSource::Pull(dataplane::Block* block) {
  TD_ASSIGN_OR_RETURN(const Flow flow, source_.Pull(block));
  if (flow != Flow::kMoved) return flow;
  const uint64_t sequence = block->header().sequence;
  pulled_[sequence % kWindow] = {.sequence = sequence, .at_ns = clock_.NowNs()};
  if (!std::exchange(any_, true)) trace_.Step();
  return flow;
}

void TracedSource::Acknowledge(uint64_t watermark) {
  source_.Acknowledge(watermark);
  if (watermark <= acknowledged_) return;
  const int64_t now_ns = clock_.NowNs();
  if (watermark - acknowledged_ > kWindow) acknowledged_ = watermark - kWindow;
  for (; acknowledged_ < watermark; ++acknowledged_) {
    const Pulled& pulled = pulled_[acknowledged_ % kWindow];
    if (pulled.sequence != acknowledged_) continue;
    const int64_t took_ns = now_ns - pulled.at_ns;
    if (times_.Observe(took_ns)) trace_.SlowBlock(acknowledged_, took_ns);
  }
}

}  // namespace tapedeck::services::session
