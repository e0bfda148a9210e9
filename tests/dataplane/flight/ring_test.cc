#include "dataplane/flight/ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "dataplane/flight/rings.h"
#include "dataplane/flight/stamp.h"

namespace tapedeck::dataplane::flight {
namespace {

// Every field follows from the number, so that a torn entry shows.
Entry Numbered(uint64_t number) {
  return {.time_ns = static_cast<int64_t>(number * 3),
          .sequence = number,
          .argument = ~number,
          .trail = static_cast<uint32_t>(number * 7),
          .kind = static_cast<Kind>(1 + number % kKinds.size()),
          .place = static_cast<uint8_t>(number)};
}

TEST(KindTest, EachHasItsNameAtItsNumber) {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(kKinds[i].kind), i + 1);
    EXPECT_EQ(NameOf(kKinds[i].kind), kKinds[i].name);
  }
  EXPECT_EQ(NameOf(Kind::kNone), "");
  EXPECT_EQ(NameOf(static_cast<Kind>(200)), "");
}

TEST(EntryTest, PassesThroughItsWords) {
  for (const uint64_t number : {uint64_t{0}, uint64_t{41}, uint64_t{1} << 40}) {
    EXPECT_EQ(EntryOf(WordsOf(Numbered(number))), Numbered(number));
  }
}

TEST(RingTest, KeepsTheNewestAndCountsWhatWasReplaced) {
  Ring ring(8);
  ring.Begin("rail-r0");
  for (uint64_t i = 0; i < 20; ++i) ring.Put(Numbered(i));
  const RingLook look = ring.Look(0, 100);
  EXPECT_EQ(look.thread, "rail-r0");
  EXPECT_EQ(look.next, 20u);
  EXPECT_EQ(look.missed, 12u);
  ASSERT_EQ(look.entries.size(), 8u);
  for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(look.entries[i], Numbered(12 + i));
}

TEST(RingTest, IsReadInPieces) {
  Ring ring(64);
  ring.Begin("t");
  for (uint64_t i = 0; i < 10; ++i) ring.Put(Numbered(i));
  RingLook look = ring.Look(0, 4);
  EXPECT_EQ(look.entries.size(), 4u);
  look = ring.Look(look.next, 100);
  ASSERT_EQ(look.entries.size(), 6u);
  EXPECT_EQ(look.entries.front(), Numbered(4));
  EXPECT_EQ(look.missed, 0u);
  EXPECT_TRUE(ring.Look(look.next, 100).entries.empty());
}

TEST(RingTest, AnotherThreadsStampsAreNotTakenForThoseOfTheLast) {
  Ring ring(64);
  ring.Begin("first");
  for (uint64_t i = 0; i < 5; ++i) ring.Put(Numbered(i));
  ring.Begin("a name of sixteen bytes and more");
  ring.Put(Numbered(100));
  const RingLook look = ring.Look(0, 100);
  EXPECT_EQ(look.thread, "a name of sixtee");
  ASSERT_EQ(look.entries.size(), 1u);
  EXPECT_EQ(look.entries[0], Numbered(100));
}

// A reader beside the writer sees whole entries only, in their order.
TEST(RingTest, WhatIsReadWhileItIsWrittenIsWhole) {
  Ring ring(256);
  ring.Begin("writer");
  constexpr uint64_t kStamps = 400'000;
  std::atomic<bool> reading = false;
  std::thread writer([&] {
    while (!reading) std::this_thread::yield();
    for (uint64_t i = 0; i < kStamps; ++i) ring.Put(Numbered(i));
  });
  uint64_t at = 0;
  uint64_t seen = 0;
  uint64_t missed = 0;
  while (at < kStamps) {
    const RingLook look = ring.Look(at, 64);
    uint64_t last = at;
    for (const Entry& entry : look.entries) {
      ASSERT_EQ(entry, Numbered(entry.sequence));
      ASSERT_GE(entry.sequence, last);
      last = entry.sequence + 1;
    }
    seen += look.entries.size();
    missed += look.missed;
    at = look.next;
    reading = true;
  }
  writer.join();
  EXPECT_EQ(seen + missed, kStamps);
  EXPECT_GT(seen, 0u);
}

TEST(RingsTest, AreBoundedAndTheLongestFreeGoesFirst) {
  Rings rings(2, 8);
  Ring* const first = rings.Take("first");
  Ring* const second = rings.Take("second");
  EXPECT_EQ(rings.Take("third"), nullptr);
  EXPECT_EQ(rings.refused(), 1u);
  second->Put(Numbered(1));
  rings.GiveBack(second);
  rings.GiveBack(first);
  // Still there to be read.
  EXPECT_EQ(second->Look(0, 8).entries.size(), 1u);
  EXPECT_EQ(rings.Take("fourth"), second);
  EXPECT_TRUE(second->Look(0, 8).entries.empty());
  EXPECT_EQ(rings.All().size(), 2u);
}

std::vector<Entry> StampsOf(uint32_t trail) {
  std::vector<Entry> found;
  for (const Ring* ring : ProcessRings().All()) {
    for (const Entry& entry : ring->Look(0, kRingEntries).entries) {
      if (entry.trail == trail) found.push_back(entry);
    }
  }
  return found;
}

TEST(TrailTest, StampsLieInTheRingOfTheirThread) {
  const Trail trail(0xf00d, 1000);
  std::thread([&] {
    trail.Stamp(Kind::kMade, {.sequence = 5, .argument = 6, .place = 7, .now_ns = 8});
    trail.Stamp(Kind::kRail, {.place = 1000});
  }).join();
  const std::vector<Entry> found = StampsOf(0xf00d);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (Entry{.time_ns = 8,
                             .sequence = 1005,
                             .argument = 6,
                             .trail = 0xf00d,
                             .kind = Kind::kMade,
                             .place = 7}));
  EXPECT_EQ(found[1].place, 255);
  EXPECT_GT(found[1].time_ns, 0);
}

TEST(TrailTest, NoneAreLeftOfNoSessionOrWhileItIsOff) {
  Trail().Stamp(Kind::kMade, {.argument = 0xabc});
  SetOn(false);
  Trail(0xbeef).Stamp(Kind::kMade, {});
  SetOn(true);
  EXPECT_TRUE(StampsOf(0).empty());
  EXPECT_TRUE(StampsOf(0xbeef).empty());
}

}  // namespace
}  // namespace tapedeck::dataplane::flight
