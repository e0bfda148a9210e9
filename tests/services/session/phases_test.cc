// A worker that does not go on with its session: each phase has an end, and a worker that is merely
// slow or pauses does not meet it.
#include "services/session/serving/phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "services/base/errors.h"
#include "services/session/serving/server_session.h"
#include "tests/services/session/bad_messages.h"
#include "tests/sim/ends.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::services::session {
namespace {

using dataplane::kSecondNs;
using storage_node::ManualExecutor;

std::string PhaseIn(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  if (!reason.has_value() || reason->reason != "SESSION_STALLED") return status.ToString();
  return reason->metadata.at("phase");
}

// After so many seconds of it, looked at every half second; a worker that talks.
absl::Status Lasting(const PhaseState& state, int seconds, bool talks = true) {
  PhaseWatch watch(0);
  for (int64_t now_ns = 0; now_ns <= seconds * kSecondNs; now_ns += kSecondNs / 2) {
    if (talks) watch.Heard(now_ns);
    if (absl::Status status = watch.Look(state, now_ns); !status.ok()) return status;
  }
  return absl::OkStatus();
}

TEST(PhasesTest, EachHasItsLimit) {
  const std::vector<std::tuple<Phase, std::string, int>> limits = {
      {Phase::kOpen, "open", 5},
      {Phase::kConnect, "connect", 18},
      {Phase::kRest, "rest", 120},
      {Phase::kConsume, "consume", 600}};
  for (const auto& [phase, name, seconds] : limits) {
    const PhaseState state{.phase = phase, .rail_up = true};
    EXPECT_TRUE(Lasting(state, seconds - 1).ok()) << name;
    EXPECT_EQ(PhaseIn(Lasting(state, seconds)), name);
  }
}

TEST(PhasesTest, APauseLastsAsLongAsItLikes) {
  EXPECT_TRUE(Lasting({.phase = Phase::kMove, .rail_up = true}, 7200, /*talks=*/false).ok());
  EXPECT_TRUE(Lasting({.phase = Phase::kMove, .rail_up = false}, 7200).ok());
  EXPECT_TRUE(Lasting({.phase = Phase::kAdmit}, 14, /*talks=*/false).ok());
}

TEST(PhasesTest, WhatIsPreparedMustGoOn) {
  PhaseWatch watch(0);
  PhaseState state{.phase = Phase::kAdmit, .at = "preparing memory, 40 %"};
  const auto at = [&](int64_t second) { return watch.Look(state, second * dataplane::kSecondNs); };
  for (int64_t second = 0; second < 100; second += 10, ++state.done) {
    EXPECT_TRUE(at(second).ok()) << second;
  }
  EXPECT_TRUE(at(100).ok());
  const absl::Status status = at(115);
  ASSERT_TRUE(ReasonOf(status).has_value()) << status;
  EXPECT_EQ(ReasonOf(status)->reason, "LUN_NOT_RESPONDING");
  EXPECT_EQ(ReasonOf(status)->metadata.at("phase"), "admit");
  EXPECT_THAT(status.message(), testing::HasSubstr("40 %"));
}

TEST(PhasesTest, SilenceWithoutARailIsTheEnd) {
  const PhaseState state{.phase = Phase::kMove};
  EXPECT_TRUE(Lasting(state, 5, /*talks=*/false).ok());
  const absl::Status status = Lasting(state, 6, /*talks=*/false);
  ASSERT_TRUE(ReasonOf(status).has_value()) << status;
  EXPECT_EQ(ReasonOf(status)->reason, "PEER_LOST");
}

TEST(PhasesTest, ProgressBeginsThePhaseAnew) {
  PhaseWatch watch(0);
  for (int64_t second = 0; second < 600; ++second) {
    watch.Heard(second * kSecondNs);
    const PhaseState state{.phase = Phase::kRest, .done = static_cast<uint64_t>(second / 59)};
    ASSERT_TRUE(watch.Look(state, second * kSecondNs).ok()) << second;
  }
}

class MuteStream final : public ControlStream {
 public:
  MuteStream(ControlEvents** events, std::vector<Message>* sent) : events_(events), sent_(sent) {}
  void Start(ControlEvents* events, dataplane::Executor*) override { *events_ = events; }
  void Send(const Message& message) override { sent_->push_back(message); }
  void Close(const absl::Status&) override {}

 private:
  ControlEvents** const events_;
  std::vector<Message>* const sent_;
};

// A session of a worker that has no rail, until it has ended or 200 s have passed.
class RaillessSession : public testing::Test, public SessionHost {
 protected:
  void Admit(const Open& open, dataplane::Executor&, std::shared_ptr<AdmissionWatch>,
             OnAdmitted admitted) override {
    const auto ring = *dataplane::MemoryPool::Create(*dataplane::host::Create(8 * kGoodSlotBytes),
                                                     kGoodSlotBytes);
    Admission admission{.ring = ring, .accept = GoodAccept()};
    if (open.direction == Direction::kPlayback) {
      admission.source = std::make_unique<sim::PatternSource>(ring, 0);
    } else {
      admission.sink = std::make_unique<sim::PatternSink>([](uint64_t) {});
    }
    admitted(std::move(admission));
  }

  // Says `script` at once and then `chatter` every second, if there is any. The result is what the
  // worker is told; ended_s_ is when the session was gone.
  absl::Status Play(const std::vector<Message>& script, const std::optional<Message>& chatter) {
    ManualExecutor executor{absl::ZeroDuration()};
    std::vector<Message> sent;
    ControlEvents* events = nullptr;
    bool ended = false;
    ServerSession session(executor, {.id = "s", .host = this},
                          std::make_unique<MuteStream>(&events, &sent), [&] { ended = true; });
    session.Start();
    for (const Message& message : script) events->OnMessage(message);
    std::function<void()> talk = [&] {
      if (ended) return;
      events->OnMessage(*chatter);
      executor.PostAfter(kSecondNs, talk);
    };
    if (chatter.has_value()) talk();
    const int64_t limit_ns = 200 * kSecondNs;
    executor.RunUntil([&] { return ended || executor.clock().NowNs() > limit_ns; });
    ended_s_ = static_cast<double>(executor.clock().NowNs()) / kSecondNs;
    if (!ended) return absl::OkStatus();
    const auto* finished = std::get_if<Finished>(&sent.back());
    return finished != nullptr ? finished->cause : absl::InternalError("ended without a word");
  }

  double ended_s_ = 0;
};

TEST_F(RaillessSession, ThatIsNeverOpenedEnds) {
  EXPECT_EQ(PhaseIn(Play({}, std::nullopt)), "open");
  EXPECT_LE(ended_s_, 10);
}

TEST_F(RaillessSession, OfAnEmptyRecordingEnds) {
  const Message open = GoodOpen(Direction::kPlayback);
  EXPECT_EQ(ReasonOf(Play({open}, std::nullopt)).value_or(ErrorReason{}).reason, "PEER_LOST");
  EXPECT_LE(ended_s_, 10);
  EXPECT_EQ(PhaseIn(Play({open}, Progress{})), "connect");
  EXPECT_LE(ended_s_, 21);
}

TEST_F(RaillessSession, ThatRecordsEnds) {
  const Message open = GoodOpen(Direction::kRecord);
  EXPECT_FALSE(Play({open}, std::nullopt).ok());
  EXPECT_LE(ended_s_, 10);
  EXPECT_FALSE(Play({open, EndOfStream{.blocks = 1000}}, Progress{}).ok());
  EXPECT_LE(ended_s_, 21);
}

}  // namespace
}  // namespace tapedeck::services::session
