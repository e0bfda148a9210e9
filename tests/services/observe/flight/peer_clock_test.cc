#include "services/observe/flight/peer_clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace tapedeck::services::flight {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000 * kMs;

// A clock that is `ahead_ns` ahead of the true time and runs `ppm` too fast.
struct SimulatedClock {
  int64_t ahead_ns = 0;
  int64_t ppm = 0;

  int64_t At(int64_t true_ns) const { return true_ns + ahead_ns + true_ns / 1'000'000 * ppm; }
};

// Two ends that exchange messages over a way that takes unequal times.
struct Ends {
  SimulatedClock mine;
  SimulatedClock other;
  int64_t there_ns = 50'000;
  int64_t back_ns = 50'000;
  int64_t jitter_ns = 0;
  PeerClock here{};
  PeerClock peer{};
  std::mt19937 random{7};

  int64_t Jitter() { return jitter_ns == 0 ? 0 : static_cast<int64_t>(random() % jitter_ns); }

  // A message, and its answer `held_ns` after it came.
  void Exchange(int64_t true_ns, int64_t held_ns = 0) {
    const ClockReading asked = here.Send(mine.At(true_ns));
    true_ns += there_ns + Jitter();
    peer.Heard(asked, other.At(true_ns));
    true_ns += held_ns;
    const ClockReading answer = peer.Send(other.At(true_ns));
    true_ns += back_ns + Jitter();
    here.Heard(answer, mine.At(true_ns));
  }

  // By how much the offset said is wrong, beyond what it says of itself: at most 0.
  int64_t WrongBy(int64_t true_ns) const {
    const ClockOffset said = OffsetAt(here.samples(), mine.At(true_ns));
    const int64_t truth = other.At(true_ns) - mine.At(true_ns);
    return std::abs(said.offset_ns - truth) - said.uncertainty_ns;
  }
  int64_t UncertaintyAt(int64_t true_ns) const {
    return OffsetAt(here.samples(), mine.At(true_ns)).uncertainty_ns;
  }
};

TEST(PeerClockTest, NothingIsKnownBeforeAnAnswer) {
  PeerClock clock;
  EXPECT_EQ(clock.Send(100), (ClockReading{.sent_ns = 100}));
  clock.Heard({.sent_ns = 5}, 200);
  EXPECT_TRUE(clock.samples().empty());
  EXPECT_EQ(OffsetAt(clock.samples(), 0).uncertainty_ns, INT64_MAX);
  EXPECT_EQ(clock.Send(300), (ClockReading{.sent_ns = 300, .heard_sent_ns = 5, .heard_ns = 200}));
}

TEST(PeerClockTest, FindsAClockThatIsThreeSecondsApart) {
  for (const int64_t ahead : {3 * kSecond, -3 * kSecond, int64_t{0}, 40'000 * kSecond}) {
    Ends ends{.mine = {}, .other = {.ahead_ns = ahead}, .jitter_ns = 400'000};
    for (int i = 0; i < 8; ++i) ends.Exchange(kSecond + i * kMs);
    EXPECT_LE(ends.WrongBy(kSecond), 0) << ahead;
    // Half of the least round trip of eight, which has little of the jitter.
    EXPECT_LT(ends.UncertaintyAt(kSecond), 300'000) << ahead;
  }
}

TEST(PeerClockTest, UnequalWaysAreWithinItsUncertainty) {
  Ends ends{.other = {.ahead_ns = 3 * kSecond}, .there_ns = 900'000, .back_ns = 10'000};
  for (int i = 0; i < 8; ++i) ends.Exchange(kSecond + i * kMs);
  EXPECT_LE(ends.WrongBy(kSecond), 0);
  EXPECT_NEAR(static_cast<double>(ends.UncertaintyAt(kSecond)), 455'000, 10'000);
}

TEST(PeerClockTest, FollowsADriftOf100Ppm) {
  for (const int64_t ppm : {100, -100, 400}) {
    Ends ends{.other = {.ahead_ns = 3 * kSecond, .ppm = ppm}, .jitter_ns = 100'000};
    constexpr int64_t kEvery = kSecond / 4;
    for (int64_t at = kSecond; at < 600 * kSecond; at += kEvery) ends.Exchange(at);
    // Also between two measurements, and long ago where fewer are kept.
    for (int64_t at = 2 * kSecond; at < 599 * kSecond; at += 77 * kMs) {
      ASSERT_LE(ends.WrongBy(at), 0) << ppm << " ppm, at " << at;
    }
    EXPECT_LT(ends.UncertaintyAt(590 * kSecond), 250'000) << ppm;
    EXPECT_LE(ends.here.samples().size(), PeerClock::kMaxSamples);
  }
}

TEST(PeerClockTest, AnAnswerThatWasHeldForLongIsNoWorseThanTheDrift) {
  Ends ends{.other = {.ahead_ns = -3 * kSecond, .ppm = -100}};
  ends.Exchange(10 * kSecond, kSecond);
  EXPECT_LE(ends.WrongBy(10 * kSecond + kSecond / 2), 0);
  EXPECT_LT(ends.UncertaintyAt(10 * kSecond + kSecond / 2), 700'000);
}

TEST(PeerClockTest, TheOtherEndLearnsAsMuch) {
  Ends ends{.other = {.ahead_ns = 3 * kSecond}, .jitter_ns = 100'000};
  for (int i = 0; i < 8; ++i) ends.Exchange(kSecond + i * kMs);
  const ClockOffset said = OffsetAt(ends.peer.samples(), ends.other.At(kSecond));
  EXPECT_LE(std::abs(said.offset_ns + 3 * kSecond), said.uncertainty_ns);
}

// What a peer says may be anything.
TEST(PeerClockTest, ImpossibleReadingsAreLeftOut) {
  PeerClock clock;
  clock.Heard({.sent_ns = 10, .heard_sent_ns = 500, .heard_ns = 5},
              400);  // heard before it was sent
  clock.Heard({.sent_ns = 10, .heard_sent_ns = 100, .heard_ns = 50}, 400);  // answered before heard
  EXPECT_TRUE(clock.samples().empty());
}

TEST(PeerClockTest, TheBestIsTakenOfThoseThatContradictEachOther) {
  const std::vector<ClockSample> samples = {
      {.at_ns = 100, .offset_ns = 1000, .uncertainty_ns = 10},
      {.at_ns = 100, .offset_ns = 900'000, .uncertainty_ns = 20}};
  EXPECT_EQ(OffsetAt(samples, 100).offset_ns, 1000);
}

}  // namespace
}  // namespace tapedeck::services::flight
