// Where the time of one end of a transfer goes: what its pump waited for between two runs, and how
// long the runs were. The theory, and what each word means, is in
// services/observe/explain/README.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/block/flow.h"
#include "dataplane/block/sink.h"
#include "dataplane/clock.h"
#include "dataplane/transfer/arrival_crcs.h"
#include "dataplane/transfer/receiver.h"
#include "dataplane/transfer/sender.h"
#include "services/model/words/stage_time.h"

namespace tapedeck::services::session {

// On the session's executor. Told by the pump.
class StageWatch {
 public:
  virtual ~StageWatch() = default;

  // What was before does not count.
  void Started() { since_ns_ = clock_.NowNs(); }
  void RunBegan() { Charge(state_); }
  // `refused`: the sink would not take the block that there is.
  // `downstream`: the sink would not take the block that there is, or has all that will come.
  void RunEnded(bool downstream) {
    Charge(kRunning);
    state_ = Classify(downstream);
  }
  // What went on when this was asked is in it, too.
  virtual StageTimes Times() = 0;

 protected:
  static constexpr size_t kRunning = 0;
  static constexpr size_t kStates = 8;

  explicit StageWatch(const dataplane::Clock& clock) : clock_(clock), since_ns_(clock.NowNs()) {}

  // What the time until the next run goes to: a number below kStates.
  virtual size_t Classify(bool downstream) = 0;
  // `passed_ns` more of `state`.
  virtual void OnCharged(size_t /*state*/, int64_t /*passed_ns*/) {}

  void Charge(size_t state) {
    const int64_t now_ns = clock_.NowNs();
    spent_ns_[state] += now_ns - since_ns_;
    OnCharged(state, now_ns - since_ns_);
    since_ns_ = now_ns;
  }
  size_t state() const { return state_; }
  int64_t spent_ns(size_t state) const { return spent_ns_[state]; }

 private:
  const dataplane::Clock& clock_;
  size_t state_ = kRunning + 1;  // of both kinds: nothing to do
  int64_t since_ns_;
  std::array<int64_t, kStates> spent_ns_ = {};
};

// Of the end that sends from `slots` slots. The sender outlives it.
std::unique_ptr<StageWatch> WatchSending(const dataplane::Clock& clock,
                                         const dataplane::Sender& sender, size_t slots);

struct ReceivingParts {
  const dataplane::Receiver* receiver = nullptr;
  const dataplane::Sink* sink = nullptr;
  const dataplane::ArrivalCrcs* arrivals = nullptr;  // null: no poller checks what arrives
  dataplane::CommitLevel commit = dataplane::CommitLevel::kDurable;
  uint32_t peer_slots = 0;
};

// Of the end that receives. The parts outlive it.
std::unique_ptr<StageWatch> WatchReceiving(const dataplane::Clock& clock,
                                           const ReceivingParts& parts);

}  // namespace tapedeck::services::session
