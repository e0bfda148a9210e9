#include "services/session/transfer/stage_watch.h"

#include <algorithm>

namespace tapedeck::services::session {
namespace {

using dataplane::Link;
using dataplane::SenderState;

// The part of the time with the whole ring on its way in which the rails were idle: of n blocks on
// a wire that is full the last waits for all others, on one that is merely long for none. So the
// mean time on the way is n times the least in one case, and the least in the other.
double ShareOfRing(const dataplane::TransitMeter& transit) {
  if (transit.blocks == 0 || transit.busy_ns == 0 || transit.least_ns <= 0) return 1;
  const double at_once = static_cast<double>(transit.sum_ns) / static_cast<double>(transit.busy_ns);
  const double queued = static_cast<double>(transit.sum_ns) / static_cast<double>(transit.blocks) /
                        static_cast<double>(transit.least_ns);
  if (at_once < 1.5) return 1;  // too few to tell, which more slots would change
  // It is mostly one or the other, and what lies between is noise.
  return std::clamp(2 * (at_once - queued) / (at_once - 1) - 0.5, 0.0, 1.0);
}

class SendingWatch final : public StageWatch {
 public:
  SendingWatch(const dataplane::Clock& clock, const dataplane::Sender& sender, size_t slots)
      : StageWatch(clock), sender_(sender), slots_(slots) {}

  StageTimes Times() override {
    Charge(state());
    // What was told stays: times only grow.
    const auto more_ns = static_cast<double>(spent_ns(kRing) - told_ring_ns_);
    told_ring_ns_ = spent_ns(kRing);
    short_ns_ += static_cast<int64_t>(more_ns * ShareOfRing(sender_.transit()));
    StageTimes times = {{"send.thread", "", spent_ns(kRunning)},
                        {"send.idle", "", spent_ns(kIdle)},
                        {"send.wire", "", spent_ns(kWire) + spent_ns(kRing) - short_ns_},
                        {"send.credits", "", spent_ns(kCredits)},
                        {"send.ring", "", short_ns_},
                        {"send.acknowledge", "", spent_ns(kAcknowledge)}};
    for (const Rail& rail : rails_) {
      if (rail.link != nullptr) {
        model::Add({{"send.rail", rail.link->rail().name, rail.waited_for_ns}}, times);
      }
    }
    return times;
  }

 private:
  enum State : size_t { kIdle = kRunning + 1, kWire, kCredits, kRing, kAcknowledge, kRail };
  struct Rail {
    Link* link = nullptr;
    int64_t waited_for_ns = 0;
  };

  // The slots of the ring tell whether the source could go on; where it could not, whatever the
  // lowest block waits for is what all wait for.
  size_t Classify(bool downstream) override {
    const SenderState state = sender_.state();
    lowest_ = state.lowest;
    if (state.waiting == SenderState::Waiting::kLanes) return kWire;
    if (state.waiting == SenderState::Waiting::kGrants) return kCredits;
    if (!downstream && state.held < slots_) return kIdle;
    if (state.lowest == nullptr) return kAcknowledge;
    const bool most = 2 * state.in_flight >= state.held;
    return most && !state.lowest_alone ? kRing : kRail;
  }

  void OnCharged(size_t state, int64_t passed_ns) override {
    if (state != kRail || lowest_ == nullptr) return;
    if (lowest_->index() >= rails_.size()) rails_.resize(lowest_->index() + 1);
    Rail& rail = rails_[lowest_->index()];
    rail.link = lowest_;
    rail.waited_for_ns += passed_ns;
    lowest_->meter().waited_for_ns.fetch_add(passed_ns, std::memory_order_relaxed);
  }

  const dataplane::Sender& sender_;
  const size_t slots_;
  Link* lowest_ = nullptr;
  int64_t told_ring_ns_ = 0;
  int64_t short_ns_ = 0;     // of that, for want of slots
  std::vector<Rail> rails_;  // by link; a session's links live as long as it
};

class ReceivingWatch final : public StageWatch {
 public:
  ReceivingWatch(const dataplane::Clock& clock, const ReceivingParts& parts)
      : StageWatch(clock), parts_(parts) {}

  StageTimes Times() override {
    Charge(state());
    const int64_t crc_ns = parts_.arrivals == nullptr ? 0 : parts_.arrivals->busy_ns();
    return {{"receive.crc", "", crc_ns},
            {"receive.thread", "", spent_ns(kRunning)},
            {"receive.idle", "", spent_ns(kIdle)},
            {"receive.sink", "", spent_ns(kSink)}};
  }

 private:
  enum State : size_t { kIdle = kRunning + 1, kSink };

  // Once the sink was too slow for the ring, of either end, it stays the one that all wait for
  // until it has nothing left to do.
  size_t Classify(bool /*downstream*/) override {
    const dataplane::Watermarks marks = parts_.sink->watermarks();
    const uint64_t arrived = parts_.receiver->received_watermark();
    full_ = full_ || parts_.receiver->short_of_slots() ||
            arrived - std::min(arrived, marks.at(parts_.commit)) >= parts_.peer_slots;
    if (arrived <= marks.written) full_ = false;
    return full_ ? kSink : kIdle;
  }

  const ReceivingParts parts_;
  bool full_ = false;
};

}  // namespace

std::unique_ptr<StageWatch> WatchSending(const dataplane::Clock& clock,
                                         const dataplane::Sender& sender, size_t slots) {
  return std::make_unique<SendingWatch>(clock, sender, slots);
}

std::unique_ptr<StageWatch> WatchReceiving(const dataplane::Clock& clock,
                                           const ReceivingParts& parts) {
  return std::make_unique<ReceivingWatch>(clock, parts);
}

}  // namespace tapedeck::services::session
