// A Source that sees how long its blocks take until they are acknowledged, and tells of the slow
// ones. Costs a block two looks at the clock and no allocation.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "dataplane/block/source.h"
#include "dataplane/clock.h"
#include "services/session/transfer/session_trace.h"

namespace tapedeck::services::session {

// Which times are slow: longer than a second, or than 999 of 1000 before.
class SlowTimes {
 public:
  static constexpr int64_t kAlwaysNs = dataplane::kSecondNs;
  // Below this nobody waits; and before there are so many, nobody knows what is usual.
  static constexpr int64_t kNeverNs = 5 * dataplane::kMillisecondNs;
  static constexpr uint64_t kEnough = 4096;

  // Whether this one is.
  bool Observe(int64_t ns);

 private:
  // Of so many times the 999th of 1000, or a little more.
  void FindLimit();

  // By the place of the highest bit, and the two bits after it: within a quarter.
  std::array<uint64_t, 256> counts_ = {};
  uint64_t count_ = 0;
  int64_t limit_ns_ = kAlwaysNs;
};

// Lives with `source` on the executor of the session.
class TracedSource final : public dataplane::Source {
 public:
  // All outlive it. `trace` is recording.
  TracedSource(dataplane::Source& source, const dataplane::Clock& clock, SessionTrace& trace)
      : source_(source), clock_(clock), trace_(trace) {}

  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override;
  void SetWaker(dataplane::Waker waker) override { source_.SetWaker(std::move(waker)); }
  void Acknowledge(uint64_t watermark) override;
  absl::Status Reject(const dataplane::BlockHeader& header) override {
    return source_.Reject(header);
  }

 private:
  // Blocks that are looked at while they are under way: what comes when one as far ahead has not
  // been acknowledged takes its place, and that one is not told of.
  static constexpr size_t kWindow = 4096;
  struct Pulled {
    uint64_t sequence = UINT64_MAX;
    int64_t at_ns = 0;
  };

  dataplane::Source& source_;
  const dataplane::Clock& clock_;
  SessionTrace& trace_;
  std::array<Pulled, kWindow> pulled_;
  uint64_t acknowledged_ = 0;
  bool any_ = false;
  SlowTimes times_;
};

}  // namespace tapedeck::services::session
